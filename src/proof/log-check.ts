/**
 * Checks a log against signed checkpoints: its tree is built again from its lines, and every checkpoint must be
 * a state on the way. Tiles help to tell which line was changed. They are compared too, and trusted for nothing
 * that no checkpoint confirms.
 */
import { locate } from "./log-faults.ts";
import { HASH_BYTES, sha256 } from "./merkle.ts";
import { RebuiltTree } from "./rebuilt-tree.ts";
import {
  Places,
  recordedLeaves,
  type KnownCheckpoint,
  type LogFault,
  type StoredLog,
} from "./stored-log.ts";
import { TILE_WIDTH } from "./tiles.ts";

/** The result of a check. */
export interface LogCheck {
  readonly faults: readonly LogFault[];
  /** The number of events, removed ones included. */
  readonly size: number;
  /** The events that a checkpoint confirms, from the first on. */
  readonly covered: number;
}

/**
 * Checks a log. Holds one hash for 256 events in memory; after a fault, two for each event.
 *
 * @param checkpoints verified ones, in any order
 */
export async function checkLog(
  log: StoredLog,
  checkpoints: readonly KnownCheckpoint[],
): Promise<LogCheck> {
  const ordered = checkpoints.toSorted((a, b) => a.size - b.size);
  const tree = new RebuiltTree(ordered);
  for await (const leaves of recordedLeaves(log, 0)) {
    tree.leaves(leaves.subarray(0, (log.first - tree.size) * HASH_BYTES));
    if (tree.size === log.first) break;
  }
  if (tree.size < log.first) {
    const file = log.tileFile(0, Math.floor(tree.size / TILE_WIDTH));
    const problem = `is missing or too short: nothing else shows that event ${tree.size}, which was removed, was there`;
    return { faults: [{ file, problem }], size: log.first, covered: tree.covered };
  }
  const places = new Places();
  await log.readLines((line, file, number) => {
    places.add(file, number);
    tree.line(line);
  });
  const other = await differentTiles(log, tree);
  const isRight = tree.failed === undefined && tree.ahead === undefined;
  const isConfirmed = ({ index }: TilePosition): boolean =>
    isRight && (index + 1) * TILE_WIDTH <= tree.covered;
  const suspicious = other.find((tile) => tile.level === 0 && !isConfirmed(tile));
  // The tree of the lines is the right one, so a tile that differs from it is not.
  const faults = (isRight && !suspicious ? other : other.filter(isConfirmed)).map(
    ({ level, index }) => ({
      file: log.tileFile(level, index),
      problem: `tile ${index}: is not that of the events, which are as the checkpoints say`,
    }),
  );
  if (!isRight || suspicious) {
    faults.push(...(await locate({ log, ordered, tree, places }, suspicious?.index)));
  }
  return { faults, size: tree.size, covered: tree.covered };
}

interface TilePosition {
  readonly level: number;
  readonly index: number;
}

/** The stored tiles that are not those of the rebuilt tree. Also those that are missing although a later one exists. */
async function differentTiles(log: StoredLog, tree: RebuiltTree): Promise<readonly TilePosition[]> {
  const found: TilePosition[] = [];
  for (let level = 0; level === 0 || tree.levels[level] !== undefined; level++) {
    const full = Math.floor(Math.floor(tree.size / TILE_WIDTH ** level) / TILE_WIDTH);
    const missing: TilePosition[] = [];
    for (let index = 0; ; index++) {
      const tile = await log.readTile(level, index);
      if (tile === undefined && index >= full) break;
      if (tile !== undefined) found.push(...missing.splice(0));
      const isRight = tile !== undefined && isOf(tile, level, index, tree);
      if (!isRight) (tile === undefined ? missing : found).push({ level, index });
    }
  }
  return found;
}

function isOf(tile: Buffer, level: number, index: number, tree: RebuiltTree): boolean {
  const { leafTiles, levels, size } = tree;
  const own = levels[level]?.slice(index * TILE_WIDTH, (index + 1) * TILE_WIDTH) ?? [];
  if (level > 0) return tile.equals(Buffer.concat(own).subarray(0, tile.length)) && own.length > 0;
  const isFull = tile.length === TILE_WIDTH * HASH_BYTES;
  // The leaves of a tile that is not full are compared when there is another reason to.
  if (!isFull) return index * TILE_WIDTH + tile.length / HASH_BYTES <= size;
  return leafTiles[index]?.equals(sha256(tile)) === true;
}
