/**
 * The values of an audit event that a rule can match. Browsers load this too, so it must not import
 * the YAML library.
 */
import { CAPABILITY } from "./document-keys.ts";
import { type FactField, GLOB_FIELDS, type GlobField, globFields } from "./glob-fields.ts";
import { LONGEST_RESOURCES, type ReportedCommand } from "./reported-command.ts";
import { trimmed } from "./trimmed.ts";

/** The fields of an event that a draft uses. */
export interface DraftEvent extends ReportedCommand {
  readonly id: string;
  readonly timestamp: string;
  readonly reason?: string | undefined;
}

export const LONGEST_VALUE = 500;
/** A draft reads fewer characters of a command than this. */
const LONGEST_COMMAND_READ = 8_192;
const CAPABILITY_ID = new RegExp(CAPABILITY, "u");

/** A value of an event that a rule could match. */
export interface Fact {
  readonly key: GlobField;
  readonly field: FactField;
  readonly value: string;
}

/** The values of an event, other than the command, that a rule could match. */
export function factsOf(event: DraftEvent): readonly Fact[] {
  return GLOB_FIELDS.flatMap((key) => {
    const field = globFields[key];
    const value = event[field];
    if (value === undefined || value.trim() === "" || value.length > LONGEST_VALUE) return [];
    return field === "capability" && !CAPABILITY_ID.test(value) ? [] : [{ key, field, value }];
  });
}

/** Whether a fact alone is narrow enough for a rule. A star is a pattern, and a kind of caller matches far too much. */
export function isNarrow({ field, value }: Fact): boolean {
  return !value.includes("*") && field !== "consumer";
}

/** Whether an event has enough values for a rule that does not match everything. */
export function canDraft(event: DraftEvent): boolean {
  if (trimmed(event.command ?? "") !== "") return true;
  const narrow = factsOf(event).filter(isNarrow);
  // Without its capability, a rule about one tool would match each tool of its provider.
  const isNamed =
    event.capability === undefined || narrow.some(({ key }) => key === "capabilities");
  return narrow.length > 0 && isNamed;
}

/**
 * The parts of an event that a draft uses, cut to the length that it reads: an event may have some MiB, and is
 * kept while its draft waits. The parts are copied, since a part of a text keeps the whole text in memory.
 */
export function shortened(event: DraftEvent): DraftEvent {
  const { id, timestamp, command, reason, runtime_version } = event;
  const facts = Object.values(globFields).map((field) => {
    const longest = field === "resource" ? LONGEST_RESOURCES : LONGEST_VALUE;
    return [field, event[field]?.slice(0, longest + 1)];
  });
  const short = {
    ...{ id, timestamp, ...(Object.fromEntries(facts) as Partial<DraftEvent>) },
    command: command === undefined ? undefined : trimmed(command).slice(0, LONGEST_COMMAND_READ),
    reason: reason?.slice(0, LONGEST_VALUE + 1),
    runtime_version: runtime_version?.slice(0, LONGEST_VALUE),
  };
  return JSON.parse(JSON.stringify(short)) as DraftEvent;
}
