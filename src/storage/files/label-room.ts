import type { Heartbeat } from "../../fleet/schema.ts";
import type { Refusal } from "../../core/errors.ts";
import { labelLength, type Labels } from "../../core/labels.ts";
import type { Quota } from "../../core/quota.ts";

/**
 * A name, or another text of a runtime, that is longer takes room as its labels do: all of them are in memory, where
 * 250,000 runtimes with texts of the greatest length would take more than 2 GiB.
 */
export const FREE_LENGTH = 64;
/** The texts that a runtime reports, apart from its name; a report may leave each of them out. */
export const REPORTED = ["hostname", "os", "version", "policy_version"] as const;

type Texts = { readonly [Field in (typeof REPORTED)[number]]?: string | undefined };

/** The room for the labels, and for the long texts, of one organization's runtimes. */
export class LabelRoom {
  #stored = 0;
  /** The room of pending reports. */
  #pending = 0;

  /** Counts labels that replaced others in memory. */
  replace(before: Labels | undefined, after: Labels | undefined): void {
    this.#stored += labelLength(after) - labelLength(before);
  }

  /** Counts a name or another text that replaced one in memory. */
  replaceText(before: string | undefined, after: string | undefined): void {
    this.#stored += countedLength(after) - countedLength(before);
  }

  /**
   * Takes room for a report until `release` is called with the same length.
   *
   * @param quota without it there is no limit
   * @returns the refusal if the report needs more room than there is; fewer labels than before always fit
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

/** The room that a report needs beyond that of the runtime so far. */
export function growth(
  before: (Texts & { readonly labels?: Labels | undefined }) | undefined,
  report: Heartbeat,
): number {
  let room = labelGrowth(before?.labels, report.labels);
  if (before === undefined) room += countedLength(report.name);
  for (const field of REPORTED) {
    room += Math.max(0, countedLength(report[field]) - countedLength(before?.[field]));
  }
  return room;
}

function labelGrowth(before: Labels | undefined, given: Labels | undefined): number {
  return given === undefined ? 0 : Math.max(0, labelLength(given) - labelLength(before));
}

function countedLength(text: string | undefined): number {
  return text === undefined || text.length <= FREE_LENGTH ? 0 : text.length;
}
