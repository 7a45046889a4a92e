/** Makes the sidecar of a sealed segment from its log, where nothing but that has to be done. */
import type { FileOperations } from "../../../file-operations.ts";
import { readManyLines } from "../../../log-lines.ts";
import { GrowingIndex } from "../index/growing-index.ts";
import { LineIndexer } from "../index/line-indexer.ts";
import { writeSidecar } from "./writer.ts";

/** A segment that has no sidecar. */
export interface SegmentWithout {
  readonly segment: number;
  readonly organization: string;
  readonly log: string;
  readonly sidecar: string;
}

/**
 * Makes the sidecar of a segment; `false` when a line of it is no event, which is for somebody else
 * to deal with.
 */
export async function remakeSidecar(files: FileOperations, of: SegmentWithout): Promise<boolean> {
  const index = new GrowingIndex(of.segment);
  const indexer = new LineIndexer(of.organization);
  let isWhole = true;
  await readManyLines(files, of.log, (bytes, offset) => {
    indexer.add(index, bytes, offset, () => void (isWhole = false));
    return isWhole ? undefined : false;
  });
  if (!isWhole) return false;
  const { size } = await files.stat(of.log);
  await writeSidecar(files, of.sidecar, index, size);
  return true;
}
