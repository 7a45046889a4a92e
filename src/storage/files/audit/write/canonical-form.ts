/**
 * The long way for lines that are events, but not written as this service writes them: by an editor,
 * by `jq`, by another version. They are parsed, and what an index takes from them is written once
 * more in the service's own form, so that there is one way only into the index.
 */
import { formatTimestamp, parseTimestamp } from "../../../../core/time.ts";
import { ORDER } from "../index/line-scanner.ts";
import { readLine } from "./lines.ts";
import { CONSUMERS, DECISIONS } from "../index/packed-facets.ts";

/**
 * Writes a line in the service's own form, with a newline; what is of no type that ingest knows is
 * left out.
 *
 * @returns `undefined` when it is no event of that organization: damaged, or put there by mistake
 */
export function inCanonicalForm(line: Buffer, organization: string): Buffer | undefined {
  const event: Readonly<Record<string, unknown>> | undefined = readLine(line, organization);
  if (event === undefined) return undefined;
  const known: Record<string, unknown> = {};
  for (const name of ORDER) known[name] = valueOf(name, event[name]);
  return Buffer.from(`${JSON.stringify(known)}\n`, "utf8");
}

function valueOf(name: (typeof ORDER)[number], value: unknown): unknown {
  switch (name) {
    case "timestamp":
    case "ingested_at":
      return formatTimestamp((typeof value === "string" ? parseTimestamp(value) : 0) ?? 0);
    case "consumer":
      return CONSUMERS.includes(value as string) ? value : undefined;
    case "policy_decision":
      return DECISIONS.includes(value as string) ? value : undefined;
    case "ai":
      return value === true;
    case "duration_ms":
      return undefined; // no index has it
    default:
      return typeof value === "string" ? value : undefined;
  }
}
