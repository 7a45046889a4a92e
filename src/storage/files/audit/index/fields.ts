/**
 * The fields of an event that are kept as codes: a number for each text that occurs, which a dictionary
 * turns back into it. A column holds the codes of one field, in as few bytes as they need.
 */

/** The fields that are kept as codes, in the order of the columns. */
export const FIELDS = [
  "provider",
  "executor",
  "capability",
  "resource",
  "status",
  "runtime_name",
  "policy",
  "reported_by",
] as const;

/** The places in `FIELDS` of those that `q` searches, besides the command. */
export const SEARCHED = [0, 1, 2, 3];
/** The places of those that rows are counted by together with decision, consumer, status and policy. */
export const COUNTED = [0, 1, 2, 5];
export const PROVIDER = 0;
export const STATUS = 4;
export const POLICY = 6;
/** Runtimes choose names of any length: longer ones, in characters, are not listed. */
export const LONGEST_LISTED = 256;

export type Column = Uint8Array | Uint16Array | Uint32Array;
