/** Brings the tree over a log up to date, from the files of the log. */
import { nextTurn } from "../../../core/timers.ts";
import { Contradiction, type SignedTree } from "../../../proof/signed-tree.ts";
import type { FileOperations } from "../../file-operations.ts";
import { readInto, withFile } from "../../file-ranges.ts";
import { eachLine } from "../../log-lines.ts";
import type { LogPart } from "./log-sources.ts";
import type { TreePosition } from "./tree-files.ts";

const READ_BYTES = 256 << 10;
const LEAVES_AT_ONCE = 16_384;
const NEWLINE = 0x0a;

/**
 * Adds the lines that a log has got since, and signs a checkpoint if the tree has changed.
 *
 * @param leaving the names of files that are about to be removed: the checkpoint does not demand their lines
 * @returns the new checkpoint; `undefined` if nothing has changed
 * @throws Contradiction if the log is shorter than before
 */
export async function followFiles(
  files: FileOperations,
  tree: SignedTree<TreePosition>,
  parts: readonly LogPart[],
  leaving: readonly string[] = [],
): Promise<string | undefined> {
  const [oldest] = parts;
  if (oldest === undefined && tree.position === undefined) return undefined;
  const { file, offset, starts } = tree.position ?? {
    ...{ file: oldest?.name ?? "", offset: 0, starts: {} },
  };
  const kept = new Map(Object.entries(starts).filter(([name]) => isIn(parts, name)));
  let last = { file, offset };
  for (const part of partsAhead(parts, { file, offset, starts })) {
    if (!kept.has(part.name)) kept.set(part.name, tree.size);
    await addLines(files, tree, part, part.name === file ? offset : 0);
    last = { file: part.name, offset: part.end };
  }
  await tree.commit({ size: tree.size, ...last, starts: Object.fromEntries(kept) });
  const oldestKept = Math.min(tree.size, ...kept.values());
  return tree.sign(Math.max(oldestKept, tree.first, firstAfter(leaving, kept, tree.size)));
}

/**
 * The files of a log from the one on in which its tree continues. A log removes a file whose first write has failed, as on
 * a full disk: then the tree, which has no line of it, continues in the first file that it does not know.
 *
 * @throws Contradiction if a file with lines in the tree is missing, or shorter than before
 */
export function partsAhead(
  parts: readonly LogPart[],
  { file, offset, starts }: Pick<TreePosition, "file" | "offset" | "starts">,
): readonly LogPart[] {
  if (offset === 0 && !isIn(parts, file)) {
    return parts.filter(({ name }) => !Object.hasOwn(starts, name));
  }
  return parts.slice(parts.indexOf(requirePart(parts, { file, offset })));
}

/** The first event after those of some files, by the first event of each file; 0 for no file. */
function firstAfter(
  leaving: readonly string[],
  starts: ReadonlyMap<string, number>,
  size: number,
): number {
  const ordered = [...starts];
  const ends = ordered.map(([name], i) =>
    leaving.includes(name) ? (ordered[i + 1]?.[1] ?? size) : 0,
  );
  return Math.max(0, ...ends);
}

/** The names of the files of a log that its tree needs to go on: the one in which it continues, and those after it. */
export function filesAhead(
  position: TreePosition | undefined,
  parts: readonly LogPart[],
): readonly string[] {
  if (position === undefined) return []; // no checkpoint demands anything yet
  return partsAhead(parts, position).map(({ name }) => name);
}

function requirePart(
  parts: readonly LogPart[],
  { file, offset }: Pick<TreePosition, "file" | "offset">,
): LogPart {
  const known = parts.find(({ name }) => name === file);
  if (known === undefined) throw new Contradiction(`${file} is missing, which was signed`);
  if (known.end < offset) throw new Contradiction(`${file} is shorter than when it was signed`);
  return known;
}

/** Makes leaves of the lines of a file from an offset on, which are synced first. */
async function addLines(
  files: FileOperations,
  tree: SignedTree<TreePosition>,
  { path, end }: LogPart,
  offset: number,
): Promise<void> {
  if (offset === end) return;
  await withFile(files, path, "r", async (descriptor) => {
    await files.fsync(descriptor); // they may be acknowledged before they are on disk
    let buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end - offset));
    for (let at = offset; at < end;) {
      const read = buffer.subarray(0, end - at);
      await readInto(files, descriptor, read, at);
      const whole = at + read.length === end ? read.length : read.lastIndexOf(NEWLINE) + 1;
      if (whole === 0) {
        buffer = Buffer.allocUnsafe(buffer.length * 2); // a line that is longer
        continue;
      }
      eachLine(read.subarray(0, whole), at, (line) => {
        if (line[0] !== 0) tree.add(line); // a hole never was a line
      });
      at += whole;
      if (tree.unwritten > LEAVES_AT_ONCE) await tree.flush();
      await nextTurn();
    }
  });
}

function isIn(parts: readonly LogPart[], name: string): boolean {
  return parts.some((part) => part.name === name);
}
