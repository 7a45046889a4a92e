import { align, type Difference } from "./alignment.ts";
import { HASH_BYTES, leafHash } from "./merkle.ts";
import { RebuiltTree } from "./rebuilt-tree.ts";
import {
  recordedLeaves,
  type KnownCheckpoint,
  type LogFault,
  type Places,
  type StoredLog,
} from "./stored-log.ts";
import { TILE_WIDTH } from "./tiles.ts";

/** A log that differs from its checkpoints or its tiles. */
interface WrongLog {
  readonly log: StoredLog;
  /** The checkpoints, the smallest first. */
  readonly ordered: readonly KnownCheckpoint[];
  /** The tree of its lines. */
  readonly tree: RebuiltTree;
  readonly places: Places;
}

/**
 * Finds the lines that are wrong: the stored tiles say which event each line was, and the checkpoints whether the
 * tiles are right. Where the tiles say nothing, the checkpoints before and after narrow the place down.
 *
 * @param suspicious the first tile that does not record the lines in its place
 */
export async function locate(
  wrong: WrongLog,
  suspicious: number | undefined,
): Promise<readonly LogFault[]> {
  const { log, ordered, tree, places } = wrong;
  const full = Math.floor(tree.size / TILE_WIDTH);
  const from = Math.max(log.first, Math.min(suspicious ?? full, full) * TILE_WIDTH);
  const recorded = await all(recordedLeaves(log, from));
  const lines = await leavesFrom(log, from - log.first);
  const { differences, end } = align(recorded, lines);
  const faults = differences.map((one) => faultOf(one, from, wrong, recorded, lines));
  const [last] = faults.slice(-1);
  if (end === undefined && last) return [...faults, { ...last, problem: "and more of the like" }];
  if (differences.length > 0) {
    // The recorded events and the lines after them: if the checkpoints agree, every difference is known.
    const recordedTree = new RebuiltTree(ordered);
    for await (const leaves of recordedLeaves(log, 0)) {
      recordedTree.leaves(leaves.subarray(0, (from - recordedTree.size) * HASH_BYTES));
      if (recordedTree.size === from) break;
    }
    recordedTree.leaves(recorded);
    recordedTree.leaves(lines.subarray((end ?? 0) * HASH_BYTES));
    if (!recordedTree.failed && !recordedTree.ahead) return faults;
  }
  if (tree.failed) {
    faults.push(faultBetween(tree.covered, tree.failed, log, places));
  } else if (tree.ahead) {
    const { file } = places.at(places.lines - 1) ?? { file: log.directory };
    const problem =
      `the log ends after ${tree.size} events, and ${tree.ahead.name} is of ${tree.ahead.size}: ` +
      `the events from ${tree.size} on were removed, or an older log was put in its place`;
    faults.push({ file, problem });
  }
  return faults;
}

/** The fault of events that are recorded nowhere else: the checkpoints before and after them limit the place. */
function faultBetween(
  covered: number,
  failed: KnownCheckpoint,
  log: StoredLog,
  places: Places,
): LogFault {
  const [first, last] = [places.at(covered - log.first), places.at(failed.size - 1 - log.first)];
  const events =
    failed.size - covered === 1
      ? `event ${covered} is`
      : `events ${covered} to ${failed.size - 1} are`;
  const before = covered === 0 ? "" : `; those before are as an earlier checkpoint says`;
  const problem = `${events} not those of ${failed.name}${before}`;
  if (first === undefined || last === undefined) {
    const tile = log.tileFile(0, Math.floor(covered / TILE_WIDTH));
    return { file: first?.file ?? tile, problem };
  }
  const { unit } = log;
  const to = last.file === first.file ? `${last.number}` : `${unit} ${last.number} of ${last.file}`;
  const lines = to === `${first.number}` ? `${unit} ${to}` : `${unit}s ${first.number} to ${to}`;
  return { file: first.file, problem: `${lines}: ${problem}` };
}

/** The fault of one line or gap. */
function faultOf(
  difference: Difference,
  from: number,
  { log, places }: WrongLog,
  recorded: Buffer,
  lines: Buffer,
): LogFault {
  const base = from - log.first;
  const place = places.at(base + difference.line);
  const { file, number } = place ??
    places.at(places.lines - 1) ?? { file: log.directory, number: 0 };
  const at = place ? `${log.unit} ${number}` : `after ${log.unit} ${number}`;
  switch (difference.what) {
    case "changed": {
      const is = hashAt(lines, difference.line);
      const expected = hashAt(recorded, difference.event);
      const event = from + difference.event;
      return {
        file,
        problem: `${at}: is not event ${event}: its leaf is ${is}, expected ${expected}`,
      };
    }
    case "added": {
      const { repeats } = difference;
      const what = repeats === undefined ? "was added" : `repeats event ${from + repeats}`;
      return { file, problem: `${at}: ${what}` };
    }
    case "moved":
      return { file, problem: `${at}: is event ${from + difference.event}, which was moved here` };
    case "missing": {
      const [event, last] = [
        from + difference.event,
        from + difference.event + difference.count - 1,
      ];
      const events = event === last ? `event ${event} is` : `events ${event} to ${last} are`;
      return { file, problem: `${place ? `before ${at}` : at}: ${events} missing` };
    }
  }
}

function hashAt(hashes: Buffer, i: number): string {
  return hashes.toString("base64", i * HASH_BYTES, (i + 1) * HASH_BYTES);
}

/** The leaves of the lines from one on. */
async function leavesFrom(log: StoredLog, start: number): Promise<Buffer> {
  const leaves: Buffer[] = [];
  let line = 0;
  await log.readLines((bytes) => {
    if (line++ >= start) leaves.push(leafHash(bytes));
  });
  return Buffer.concat(leaves);
}

async function all(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const found: Buffer[] = [];
  for await (const part of parts) found.push(part);
  return Buffer.concat(found);
}
