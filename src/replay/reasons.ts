import { MARK } from "../audit/redaction/values.ts";
import { isComplete, type ReportedCommand, SEVERAL } from "../policies/reported-command.ts";
import { trimmed } from "../policies/trimmed.ts";

/** The fields that an event may lack, or that may contain a mark in place of a secret. */
export const DOUBTFUL_FIELDS = ["command", "capability", "executor", "resource"] as const;
export type DoubtfulField = (typeof DOUBTFUL_FIELDS)[number];

/** The reasons why an event cannot be decided again, in the order in which they are counted. */
export const REASONS = [
  "no_decision",
  "command_redacted",
  "resource_redacted",
  "command_missing",
  "capability_missing",
  "executor_missing",
  "resource_missing",
] as const;
export type NotReplayable = (typeof REASONS)[number];

/** The reason why the value of a field is unknown; `undefined` for a known value. */
export function doubtAbout(
  event: ReportedCommand,
  field: DoubtfulField,
): NotReplayable | undefined {
  const value = event[field];
  const isBlank = value === undefined || (field === "command" && trimmed(value) === "");
  if (isBlank) return isComplete(event) ? undefined : `${field}_missing`;
  if (field !== "command" && field !== "resource") return undefined;
  if (value.includes(MARK)) return `${field}_redacted`;
  return field === "resource" && value.includes(SEVERAL) ? "resource_missing" : undefined;
}
