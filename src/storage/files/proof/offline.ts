/** Reads the trees of a data directory that a server may be using, without changing anything. */
import type { NamedLog } from "../../../proof/log-name.ts";
import { proveLine, type ProvenLine } from "../../../signed-logs/prove.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { findLine } from "./find-line.ts";
import { logParts } from "./log-sources.ts";
import { leafOf, TreeFiles } from "./tree-files.ts";

/** Proves that an event is part of a log of a data directory; see `proveLine`. */
export async function proveStored(
  files: FileOperations,
  layout: Layout,
  named: NamedLog,
  wanted: string,
): Promise<ProvenLine> {
  const tree = new TreeFiles(files, layout, named);
  const found = await findLine(files, await logParts(files, layout, named), wanted);
  const own = found && {
    line: found.line,
    index: async () => leafOf(await tree.readPosition(), found),
  };
  return proveLine(tree, own, named, wanted);
}
