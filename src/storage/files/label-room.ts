import { TooMany, type Refusal } from "../../core/errors.ts";
import { labelLength, type Labels } from "../../core/labels.ts";

/**
 * The length of all labels of an organization's runtimes, as `labelLength` counts it. Labels are in memory, where a
 * character takes several bytes: without this bound, runtimes with 32 long labels would take 20 KiB each.
 */
export const MOST_LABEL_LENGTH = 16 << 20;
const RETRY_SECONDS = 60;

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
   * @returns the refusal if the labels need more room than there is; fewer labels than before always fit
   */
  take(length: number): Refusal | undefined {
    if (length > 0 && this.#stored + this.#pending + length > MOST_LABEL_LENGTH) {
      const message = `labels: the runtimes of the organization have ${MOST_LABEL_LENGTH} characters of labels: report fewer, or remove runtimes`;
      return new TooMany(message, RETRY_SECONDS);
    }
    this.#pending += length;
    return undefined;
  }

  release(length: number): void {
    this.#pending -= length;
  }
}

/** The room that a report needs beyond the labels that it replaces. */
export function growth(before: Labels | undefined, given: Labels | undefined): number {
  return given === undefined ? 0 : Math.max(0, labelLength(given) - labelLength(before));
}
