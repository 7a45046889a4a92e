import { basename } from "node:path";
import type { NamedLog } from "../../../proof/log-name.ts";
import { HASH_BYTES } from "../../../proof/merkle.ts";
import type { StoredTrees } from "../../../signed-logs/answers.ts";
import type { LoggedLine, StoredTree } from "../../../signed-logs/prove.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import type { ReadFiles } from "../../read-files.ts";
import { segmentPath } from "../../segmented-log.ts";
import type { FileAuditStore } from "../audit.ts";
import { localRow, segmentOf } from "../audit/index/segment-index.ts";
import { findLine } from "./find-line.ts";
import type { Notary } from "./notary.ts";
import { leafOf, TILE_BYTES, TreeFiles } from "./tree-files.ts";

/** The trees of a data directory. What the notary has in memory is not read from files. */
export function storedTreesOf(
  files: FileOperations,
  layout: Layout,
  reads: ReadFiles,
  notary: Notary,
  audit: Pick<FileAuditStore, "eventsOf">,
): StoredTrees {
  const treeOf = (named: NamedLog): StoredTree => {
    const own = new TreeFiles(files, layout, named);
    return {
      lastNote: async () => notary.openTree(named)?.checkpoint?.note ?? own.lastNote(),
      async tiles(level, index, width) {
        const hashes = Buffer.allocUnsafe(width * HASH_BYTES);
        await reads.read(own.hashes(level), hashes, index * TILE_BYTES);
        return hashes;
      },
    };
  };
  const find = async (named: NamedLog, id: string) => {
    if (named.log === "activity") return findLine(files, await notary.partsOf(named), id);
    const { organization } = named;
    const [event] = await audit.eventsOf(organization, id);
    if (event === undefined) return undefined;
    const path = segmentPath(layout.organization(organization).audit, segmentOf(event.row));
    return { file: basename(path), at: localRow(event.row), line: event.line };
  };
  return {
    verifierOf: (named) => notary.signerOf(named),
    treeOf,
    async find(named, id): Promise<LoggedLine | undefined> {
      const found = await find(named, id);
      if (found === undefined) return undefined;
      const position = async () =>
        notary.openTree(named)?.position ?? new TreeFiles(files, layout, named).readPosition();
      return { line: found.line, index: async () => leafOf(await position(), found) };
    },
    signFor: (named) => notary.signFor(named),
  };
}
