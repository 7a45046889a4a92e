/**
 * Reads the fields of recorded events from their lines. A decision needs half of an event's fields, and parsing all of
 * them took as long as everything else. So one regular expression reads the lines that are written as the service writes
 * them, and only other lines are parsed.
 */
import { isAscii } from "node:buffer";
import { EVENT_FIELDS } from "../audit/event-fields.ts";
import type { EXAMPLE_FIELDS } from "./report.ts";

/** The fields of an event that a replay looks at. */
export type RecordedRow = {
  readonly [F in (typeof EXAMPLE_FIELDS)[number] | "policy_decision" | "runtime_version"]?:
    | string
    | undefined;
};

/** These fields in the order in which the service writes them. */
const READ = [
  ...(["id", "timestamp", "command", "executor", "consumer", "provider", "capability"] as const),
  ...(["resource", "policy_decision", "policy", "runtime_name", "runtime_version"] as const),
] as const satisfies readonly (keyof RecordedRow)[];

/**
 * A line as the service writes it: fields in their order, each at most once, without spaces and escapes. A failed match
 * takes linear time, too, since no two parts can match the same text.
 */
const WRITTEN = new RegExp(
  `\\{${EVENT_FIELDS.map(({ name }, at) => {
    const text = (READ as readonly string[]).includes(name) ? '"([^"\\\\\\n]*)"' : '"[^"\\\\\\n]*"';
    return at === 0 ? `"${name}":${text}` : `(?:,"${name}":(?:${text}|[\\w.+-]*))?`;
  }).join("")}\\}\\n`,
  "y",
);

/**
 * Calls `take` with the row in each line, and returns the number of lines. The texts of a row keep the memory of all
 * lines in use: one that is kept must be copied by `ownText`.
 *
 * @param lines whole lines, each with its newline
 */
export function eachRow(lines: Buffer, take: (row: RecordedRow) => void): number {
  const text = lines.toString(isAscii(lines) ? "latin1" : "utf8"); // ASCII is read several times as fast
  let count = 0;
  for (let start = 0; start < text.length; count++) {
    WRITTEN.lastIndex = start;
    const found = WRITTEN.exec(text);
    const end = found ? WRITTEN.lastIndex : text.indexOf("\n", start) + 1;
    take(found ? rowOf(found) : (JSON.parse(text.slice(start, end)) as RecordedRow));
    start = end;
  }
  return count;
}

/** A copy of a text that is part of a longer one, whose memory it would keep in use. */
export function ownText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

// oxfmt-ignore
function rowOf([
  , id, timestamp, command, executor, consumer, provider, capability, resource, policy_decision, policy, runtime_name,
  runtime_version,
]: RegExpExecArray): RecordedRow {
  return {
    id, timestamp, command, executor, consumer, provider, capability, resource, policy_decision, policy, runtime_name,
    runtime_version,
  };
}
