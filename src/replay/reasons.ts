import { GUARD_VERSION } from "../audit/event-fields.ts";
import { MARK } from "../audit/redaction/values.ts";
import type { Command } from "../policies/rules.ts";
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

/** The facts of an event that a document decides by, and the version of the runtime that reported them. */
export type RecordedCommand = {
  readonly [Fact in keyof Omit<Command, "argv"> | "runtime_version"]?: string | undefined;
};

/**
 * Whether an event has every fact that the runtime knew. A guard reports all that it decides by, so what is absent did
 * not exist. Without a command and a capability it could not read what was about to run.
 */
export function isComplete({ command, capability, runtime_version }: RecordedCommand): boolean {
  if (runtime_version?.startsWith(GUARD_VERSION) !== true) return false;
  return command !== undefined || capability !== undefined;
}

/** Whether an event is about a tool that runs no command. */
export function isToolUse(event: RecordedCommand): boolean {
  return event.command === undefined && isComplete(event);
}

/** The reason why the value of a field is unknown; `undefined` for a known value. */
export function doubtAbout(
  event: RecordedCommand,
  field: DoubtfulField,
): NotReplayable | undefined {
  const value = event[field];
  const isBlank = value === undefined || (field === "command" && trimmed(value) === "");
  if (isBlank) return isComplete(event) ? undefined : `${field}_missing`;
  if (field !== "command" && field !== "resource") return undefined;
  return value.includes(MARK) ? `${field}_redacted` : undefined;
}
