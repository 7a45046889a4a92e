/** Makes the proof that a log contains a line. */
import { isObject } from "../core/validate.ts";
import { checkpointOf } from "../proof/checkpoint.ts";
import type { NamedLog } from "../proof/log-name.ts";
import { leafHash, verifyInclusion } from "../proof/merkle.ts";
import type { TreeStore } from "../proof/signed-tree.ts";
import { inclusionProof } from "../proof/tiles.ts";
import { formatProof } from "../proof/tlog-proof.ts";

/** The stored tree of one log. */
export type StoredTree = Pick<TreeStore<never>, "lastNote" | "tiles">;

/** A line of a log. */
export interface LoggedLine {
  readonly line: Buffer;
  /** The index of its leaf; `undefined` if it is not in the tree yet. */
  index(): Promise<number | undefined>;
}

/** The id in a line of a log; `undefined` if it has none. */
export function idOfLine(line: string): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value["id"] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The proof that a checkpoint of a tree has a line.
 *
 * @param note the checkpoint; `undefined` if there is none yet
 * @returns `unsigned` if the checkpoint is older than the line; `changed` if the proof does not hold for the line
 */
export async function proofOf(
  { tiles }: Pick<StoredTree, "tiles">,
  note: string | undefined,
  line: Buffer,
  index: number | undefined,
): Promise<{ readonly file: string } | "unsigned" | "changed"> {
  if (note === undefined || index === undefined) return "unsigned";
  const { size, root } = checkpointOf(note);
  if (index >= size) return "unsigned";
  const hashes = await inclusionProof(index, size, tiles);
  if (!verifyInclusion(leafHash(line), index, size, hashes, root)) return "changed";
  return { file: formatProof({ index, hashes, checkpoint: note }) };
}

const WHEN_SIGNED =
  "a server with CHECKPOINT_SECONDS signs the next one after that time, or at once when it is asked for the proof";

/** An event, and the proof that it is part of its log. */
export interface ProvenLine {
  readonly line: Buffer;
  readonly proof: string;
}

/**
 * Proves that an event is part of a log, by the last checkpoint.
 *
 * @param found the event; `undefined` if the log does not have it
 * @throws Error if there is no such event, or no checkpoint that has it as it is stored
 */
export async function proveLine(
  tree: StoredTree,
  found: LoggedLine | undefined,
  { organization, log }: NamedLog,
  wanted: string,
): Promise<ProvenLine> {
  const note = await tree.lastNote();
  if (note === undefined) throw new Error(`The log has no checkpoint yet: ${WHEN_SIGNED}`);
  if (found === undefined)
    throw new Error(`There is no event "${wanted}" in the ${log} log of "${organization}"`);
  const proof = await proofOf(tree, note, found.line, await found.index());
  if (proof === "unsigned") {
    throw new Error(`The event is newer than the last checkpoint: ${WHEN_SIGNED}`);
  }
  if (proof === "changed") throw new Error("The event is not as it was signed: verify the log");
  return { line: found.line, proof: proof.file };
}
