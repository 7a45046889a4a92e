import type { Refusal } from "../../core/errors.ts";
import { labelLength, type Labels } from "../../core/labels.ts";
import type { Quota } from "../../core/quota.ts";

/** The room for the labels of one organization's runtimes. */
export class LabelRoom {
  #stored = 0;
  /** The room of pending reports. */
  #pending = 0;

  /** Counts labels that replaced others in memory. */
  replace(before: Labels | undefined, after: Labels | undefined): void {
    this.#stored += labelLength(after) - labelLength(before);
  }

  /**
   * Takes room for a report until `release` is called with the same length.
   *
   * @param quota without it there is no limit
   * @returns the refusal if the labels need more room than there is; fewer labels than before always fit
   */
  take(length: number, quota?: Quota): Refusal | undefined {
    const last = this.#stored + this.#pending + length - 1;
    const refusal = length > 0 ? quota?.refusal(last) : undefined;
    if (refusal === undefined) this.#pending += length;
    return refusal;
  }

  release(length: number): void {
    this.#pending -= length;
  }
}

/** The room that a report needs beyond the labels that it replaces. */
export function growth(before: Labels | undefined, given: Labels | undefined): number {
  return given === undefined ? 0 : Math.max(0, labelLength(given) - labelLength(before));
}
