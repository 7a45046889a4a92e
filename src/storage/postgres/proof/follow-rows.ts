/** Brings the tree over a log up to date, from the stored rows, in a transaction that locks the row of the tree. */
import type { NamedLog } from "../../../proof/log-name.ts";
import { Contradiction, type SignedTree } from "../../../proof/signed-tree.ts";
import type { Statements } from "../database.ts";
import { endsOf, finalRow, nextRows } from "./log-rows.ts";
import { TreeRows, type RowPosition } from "./tree-rows.ts";

/** The number of leaves after which a transaction ends. */
const LEAVES_AT_ONCE = 16_384;

/** Opens the tree of a log over its rows. */
export type OpenTree = (named: NamedLog, rows: TreeRows) => Promise<SignedTree<RowPosition>>;

/** A request to sign: its time, and that of the last request before it was made. */
export interface SigningRequest {
  readonly at: number;
  readonly seen: number;
}

/** The reasons to sign beside new rows. */
export interface SigningReason {
  /** Does nothing if another request has signed since. */
  readonly request?: SigningRequest | undefined;
  /** The last of the rows that are about to be removed: the checkpoint does not demand them. */
  readonly leaving?: number | undefined;
}

/**
 * Adds the leaves of the next rows, and signs a checkpoint if these were the last ones.
 *
 * @returns the new checkpoint, if there is one, and whether no rows are left
 * @throws Contradiction if the log is shorter than before
 */
export async function followRows(
  transaction: Statements,
  named: NamedLog,
  openTree: OpenTree,
  { request, leaving = 0 }: SigningReason = {},
): Promise<{ readonly note?: string | undefined; readonly isDone: boolean }> {
  const { contradiction, requested } = await lockTree(transaction, named);
  if (contradiction !== null) return { isDone: true };
  if (request !== undefined) {
    if (requested !== request.seen) return { isDone: true };
    await transaction.run(
      "UPDATE log_trees SET requested_ms = $3 WHERE organization_id = $1 AND log = $2",
      [named.organization, named.log, request.at],
    );
  }
  // Without statistics, as of a new partition, all of its rows would be sorted for each portion.
  await transaction.run("SET LOCAL enable_sort = off");
  const final = await finalRow(transaction, named);
  const ends = await endsOf(transaction, named);
  const rows = new TreeRows(transaction, named);
  const tree = await openTree(named, rows);
  const { row, removed } = tree.position ?? { row: 0, removed: 0 };
  if (ends.last < row) {
    throw new Contradiction(`the log ends at row ${ends.last}, and row ${row} was signed`);
  }
  const upTo = Math.min(ends.last, final);
  let last = row;
  while (last < upTo && tree.unwritten < LEAVES_AT_ONCE) {
    const next = await nextRows(transaction, named, last, upTo);
    await rows.writeRuns(tree.size, next);
    for (const { line } of next) tree.add(line);
    last = next.at(-1)?.row ?? upTo;
  }
  const removedRow = Math.max(removed, ends.removed, leaving);
  await tree.commit({ size: tree.size, row: last, removed: removedRow });
  if (last < upTo) return { isDone: false };
  if (tree.size === 0) return { isDone: true };
  const first = removedRow === 0 ? 0 : ((await rows.leafOf(removedRow + 1)) ?? 0);
  return { note: await tree.sign(Math.min(first, tree.size)), isDone: true };
}

/** Keeps a checkpoint with the signatures of others. */
export async function keepNote(
  transaction: Statements,
  named: NamedLog,
  openTree: OpenTree,
  note: string,
): Promise<void> {
  const { contradiction } = await lockTree(transaction, named);
  if (contradiction !== null) return;
  await (await openTree(named, new TreeRows(transaction, named))).keep(note);
}

/** The state of a tree beside its position. */
interface TreeState {
  readonly contradiction: string | null;
  readonly requested: number;
}

/** Locks the row of a tree, which is made if it is missing. */
async function lockTree(
  transaction: Statements,
  { organization, log }: NamedLog,
): Promise<TreeState> {
  await transaction.run(
    "INSERT INTO log_trees (organization_id, log) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    [organization, log],
  );
  const [state] = await transaction.query<TreeState>(
    `SELECT contradiction, requested_ms AS requested FROM log_trees
      WHERE organization_id = $1 AND log = $2 FOR UPDATE`,
    [organization, log],
  );
  return state ?? { contradiction: null, requested: 0 };
}
