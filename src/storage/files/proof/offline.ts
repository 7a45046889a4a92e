/** Reads the trees of a data directory that a server may be using, without changing anything. */
import { checkpointOf } from "../../../proof/checkpoint.ts";
import { inclusionProof } from "../../../proof/tiles.ts";
import { formatProof } from "../../../proof/tlog-proof.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { findLine } from "./find-line.ts";
import { logParts, treeDirectory, type TreeName } from "./log-sources.ts";
import { TreeFiles } from "./tree-files.ts";

/** An event, and the proof that it is part of its log. */
export interface ProvenLine {
  readonly line: Buffer;
  readonly proof: string;
}

/**
 * Proves that an event is part of a log, by the last checkpoint.
 *
 * @throws Error if there is no such event, or no checkpoint of it yet
 */
export async function proveLine(
  files: FileOperations,
  layout: Layout,
  id: string,
  tree: TreeName,
  wanted: string,
): Promise<ProvenLine> {
  const stored = new TreeFiles(files, treeDirectory(layout, id, tree), layout.root);
  const [note, position] = [await stored.lastNote(), await stored.readPosition()];
  if (note === undefined || position === undefined) {
    throw new Error("The log has no checkpoint: set CHECKPOINT_SECONDS");
  }
  const { size } = checkpointOf(note);
  const found = await findLine(files, await logParts(files, layout, id, tree), wanted);
  if (found === undefined) {
    throw new Error(`There is no event "${wanted}" in the ${tree} log of "${id}"`);
  }
  const index = (position.starts[found.file] ?? size) + found.at;
  if (index >= size) throw new Error("The event is newer than the last checkpoint: try later");
  const hashes = await inclusionProof(index, size, stored.tiles);
  return { line: found.line, proof: formatProof({ index, hashes, checkpoint: note }) };
}
