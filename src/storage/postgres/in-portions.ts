import { Yielder } from "../../core/scheduling/yielder.ts";
import type { Statements } from "./database.ts";

/** A row of a list: its id, and its number in the order of creation. */
interface NumberedRow {
  readonly id: string;
  readonly number: number;
}

/** The most rows of a portion. The driver parses the rows of an answer in one turn of the event loop. */
const PORTION = 500;

/**
 * Reads a long list in portions, and makes its values in slices between which other requests are served. Read at once, a list
 * of 10,000 users held up all other requests for 40 ms.
 *
 * The portions follow the primary key, since the tables have no index by `number`. A row that exists during the whole
 * read is in the list exactly once.
 *
 * @param text reads `id`, `number` and more of at most `$2` rows whose ids are greater than `$1`, by id
 * @param values those of `$3` and so on
 * @returns the values in the order of creation
 */
export async function inPortions<Row extends object, T>(
  statements: Pick<Statements, "query">,
  text: string,
  values: readonly unknown[],
  valueOf: (row: Row) => T,
): Promise<T[]> {
  const yielder = new Yielder();
  const found: { readonly number: number; readonly value: T }[] = [];
  for (let after = "", isLast = false; !isLast;) {
    const rows = await statements.query<Row & NumberedRow>(text, [after, PORTION, ...values]);
    for (const row of rows) {
      if (yielder.isDue) await yielder.step();
      found.push({ number: row.number, value: valueOf(row) });
    }
    after = rows.at(-1)?.id ?? after;
    isLast = rows.length < PORTION;
  }
  return found.sort((one, other) => one.number - other.number).map(({ value }) => value);
}
