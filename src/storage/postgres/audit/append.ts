/** Calls `audit_append_1`, which stores events. */
import { Yielder } from "../../../core/scheduling/yielder.ts";
import type { Work } from "../../../core/scheduling/work.ts";
import type { Database } from "../database.ts";
import { textArray } from "../text-array.ts";
import { EVENT_COLUMNS, type NewEvent } from "./records.ts";

/** A row of the answer of `audit_append_1`. */
export interface Answer {
  readonly organization_id: string;
  /** The newest row of the organization, or the row of a known event. */
  readonly seq: number;
  /** The bytes of the organization, or of the known event. */
  readonly bytes: number;
  readonly place: number | null;
  readonly day: string | null;
}

/** The parameters with one entry for each event, in the order of the function's parameters. */
const COLUMNS = ["organization_id", "id", "is_named", ...EVENT_COLUMNS] as const;
const NAME = "audit_append_1";
const TEXT = `SELECT * FROM ${NAME}($1, $2, ${COLUMNS.map((_, i) => `$${i + 3}`).join(", ")})`;

/**
 * Stores events, all or none; see the function in the migrations.
 *
 * @param isRelaxed whether the commit does not wait for the disk of the database
 */
export async function appendEvents(
  database: Database,
  events: readonly NewEvent[],
  isRelaxed: boolean,
): Promise<readonly Answer[]> {
  const organizations = [...new Set(events.map((event) => event.organization_id))].sort();
  const columns = await new Yielder().run(encode(events));
  return database.query<Answer>(TEXT, [organizations, isRelaxed, ...columns], NAME);
}

function* encode(events: readonly NewEvent[]): Work<readonly Buffer[]> {
  const columns: Buffer[] = [];
  for (const name of COLUMNS) {
    columns.push(textArray(events.map((event) => textOf(event, name))));
    yield;
  }
  return columns;
}

function textOf(event: NewEvent, name: (typeof COLUMNS)[number]): string | undefined {
  return name === "is_named" ? String(event.key !== undefined) : event[name]?.toString();
}
