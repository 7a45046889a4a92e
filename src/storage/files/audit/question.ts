/** A filter as it is put to one segment after another: what is the same for all of them is made once. */
import type { AuditFilter } from "../../../audit/store.ts";
import { Found, type FoundRows } from "./found-rows.ts";
import { FIELDS, POLICY, STATUS } from "./fields.ts";
import { kindsWith } from "./kinds.ts";
import { bitsOf } from "./trigrams.ts";

/** A text to be found in any letter case. */
export interface TextQuestion {
  readonly needle: Buffer;
  /** What a filter of trigrams must have. */
  readonly bits: Uint16Array;
  readonly found: Found;
}

/** A filter in the terms of every segment. */
export interface Question {
  readonly from: number;
  readonly to: number;
  /** Fields and the values that they must have. */
  readonly wanted: readonly { readonly field: number; readonly value: string }[];
  /** Kinds that match, 1 for each; `undefined` when all do. */
  readonly kinds: Uint8Array | undefined;
  readonly trace: string | undefined;
  readonly text: TextQuestion | undefined;
}

/** Puts a filter into those terms; `found` remembers what an organization's searches have found. */
export function questionOf(
  filter: AuditFilter,
  organization?: string,
  found?: FoundRows,
): Question {
  const { provider, executor, capability, status, runtime, policy, reported_by, q } = filter;
  const values = [provider, executor, capability, undefined, status, runtime, policy, reported_by];
  const wanted = FIELDS.flatMap((_, field) => {
    const value = values[field];
    return value === undefined ? [] : [{ field, value }];
  });
  return {
    from: filter.from ?? -Infinity,
    to: filter.to ?? Infinity,
    wanted,
    kinds: kindsWith(filter.decision, filter.consumer),
    trace: filter.trace_id,
    text: q === undefined || q === "" ? undefined : textQuestion(q, organization, found),
  };
}

function textQuestion(q: string, organization = "", found?: FoundRows): TextQuestion {
  const lower = q.toLowerCase();
  const needle = Buffer.from(lower, "utf8");
  return {
    needle,
    bits: bitsOf(needle),
    found: found?.of(organization, lower) ?? new Found(),
  };
}

/** Whether a field belongs to what rows are counted by in classes. */
export function isOfClass(field: number): boolean {
  return field === STATUS || field === POLICY;
}
