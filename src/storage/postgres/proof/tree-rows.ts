import type { NamedLog } from "../../../proof/log-name.ts";
import { HASH_BYTES } from "../../../proof/merkle.ts";
import type { TreeStore } from "../../../proof/signed-tree.ts";
import { TILE_WIDTH, type TileReader } from "../../../proof/tiles.ts";
import type { Statements } from "../database.ts";
import type { LogRow } from "./log-rows.ts";

const TILE_BYTES = TILE_WIDTH * HASH_BYTES;
const OWN = "organization_id = $1 AND log = $2";

/** The place in a log up to which its rows are leaves of the tree. */
export interface RowPosition {
  /** The number of leaves. */
  readonly size: number;
  readonly row: number;
  /** Retention has removed rows up to this one. */
  readonly removed: number;
}

/** Consecutive rows that are consecutive leaves. */
interface Run {
  readonly row: number;
  readonly leaf: number;
}

/** Reads and writes the rows of one tree. A writer locks its row in `log_trees` first. */
export class TreeRows implements TreeStore<RowPosition> {
  readonly #statements: Statements;
  readonly #own: readonly [organization: string, log: string];
  #reading: Promise<unknown> = Promise.resolve();

  constructor(statements: Statements, { organization, log }: NamedLog) {
    this.#statements = statements;
    this.#own = [organization, log];
  }

  async readPosition(): Promise<RowPosition | undefined> {
    const [tree] = await this.#statements.query<RowPosition>(
      `SELECT size, last_row AS row, removed_row AS removed FROM log_trees WHERE ${OWN} AND last_row > 0`,
      this.#own,
    );
    return tree;
  }

  async writePosition({ size, row, removed }: RowPosition): Promise<void> {
    await this.#statements.run(
      `UPDATE log_trees SET size = $3, last_row = $4, removed_row = $5 WHERE ${OWN}`,
      [...this.#own, size, row, removed],
    );
  }

  async lastNote(): Promise<string | undefined> {
    const [last] = await this.#statements.query<{ note: string }>(
      `SELECT note FROM log_checkpoints WHERE ${OWN} ORDER BY number DESC LIMIT 1`,
      this.#own,
    );
    return last?.note;
  }

  async appendNotes(notes: readonly string[]): Promise<void> {
    await this.#statements.run(
      `INSERT INTO log_checkpoints (organization_id, log, number, note)
       SELECT $1, $2, place + coalesce((SELECT max(number) FROM log_checkpoints WHERE ${OWN}), 0), note
         FROM unnest($3::text[]) WITH ORDINALITY AS new (note, place)`,
      [...this.#own, notes],
    );
  }

  /** Reads the stored hashes of a tile, which may be fewer than 256; `undefined` if there are none. */
  async readTile(level: number, index: number): Promise<Buffer | undefined> {
    const [tile] = await this.#statements.query<{ hashes: Buffer }>(
      `SELECT hashes FROM log_tiles WHERE ${OWN} AND level = $3 AND tile = $4`,
      [...this.#own, level, index],
    );
    return tile?.hashes;
  }

  /** Reads tiles for proofs and roots, one after the other: a transaction has one connection. */
  readonly tiles: TileReader = (level, index) => {
    const tile = this.#reading.then(() => this.readTile(level, index));
    this.#reading = tile;
    return tile.then((hashes) => hashes ?? Buffer.alloc(0));
  };

  async writeHashes(level: number, first: number, hashes: Buffer): Promise<void> {
    const tile = Math.floor(first / TILE_WIDTH);
    const known = (first % TILE_WIDTH) * HASH_BYTES;
    const parts = [hashes.subarray(0, TILE_BYTES - known)];
    for (let at = TILE_BYTES - known; at < hashes.length; at += TILE_BYTES) {
      parts.push(hashes.subarray(at, at + TILE_BYTES));
    }
    // Only the first of these tiles has hashes already.
    await this.#statements.run(
      `INSERT INTO log_tiles AS t (organization_id, log, level, tile, hashes)
       SELECT $1, $2, $3, $4 + place - 1, hashes
         FROM unnest($5::bytea[]) WITH ORDINALITY AS new (hashes, place)
       ON CONFLICT (organization_id, log, level, tile) DO UPDATE
         SET hashes = substring(t.hashes FOR $6) || excluded.hashes`,
      [...this.#own, level, tile, parts, known],
    );
  }

  /** Records which leaves rows are, the first of which is the leaf with this index. */
  async writeRuns(first: number, rows: readonly LogRow[]): Promise<void> {
    let last = await this.#runUpTo("row", Number.MAX_SAFE_INTEGER);
    const added: Run[] = [];
    for (const [i, { row }] of rows.entries()) {
      if (last !== undefined && row - last.row === first + i - last.leaf) continue;
      last = { row, leaf: first + i };
      added.push(last);
    }
    if (added.length === 0) return;
    await this.#statements.run(
      `INSERT INTO log_runs (organization_id, log, first_row, first_leaf)
       SELECT $1, $2, * FROM unnest($3::bigint[], $4::bigint[])`,
      [...this.#own, added.map(({ row }) => row), added.map(({ leaf }) => leaf)],
    );
  }

  /** The leaf of a row of the log, or that of the row after it; `undefined` for a row before the tree. */
  async leafOf(row: number): Promise<number | undefined> {
    const run = await this.#runUpTo("row", row);
    if (run === undefined) return undefined;
    const [next] = await this.#statements.query<{ leaf: number }>(
      `SELECT first_leaf AS leaf FROM log_runs WHERE ${OWN} AND first_row > $3 ORDER BY first_row LIMIT 1`,
      [...this.#own, row],
    );
    return Math.min(run.leaf + row - run.row, next?.leaf ?? Infinity);
  }

  /** The row of a leaf. */
  async rowOf(leaf: number): Promise<number> {
    const run = await this.#runUpTo("leaf", leaf);
    return run === undefined ? 0 : run.row + leaf - run.leaf;
  }

  async #runUpTo(what: "row" | "leaf", number: number): Promise<Run | undefined> {
    const [run] = await this.#statements.query<Run>(
      `SELECT first_row AS row, first_leaf AS leaf FROM log_runs
        WHERE ${OWN} AND first_${what} <= $3 ORDER BY first_row DESC LIMIT 1`,
      [...this.#own, number],
    );
    return run;
  }
}
