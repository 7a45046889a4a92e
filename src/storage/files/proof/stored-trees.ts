import { basename } from "node:path";
import type { NamedLog } from "../../../proof/log-name.ts";
import type { StoredTrees } from "../../../signed-logs/answers.ts";
import type { LoggedLine } from "../../../signed-logs/prove.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { segmentPath } from "../../segmented-log.ts";
import type { FileAuditStore } from "../audit.ts";
import { localRow, segmentOf } from "../audit/index/segment-index.ts";
import { findLine } from "./find-line.ts";
import { treeDirectory } from "./log-sources.ts";
import type { Notary } from "./notary.ts";
import { TreeFiles } from "./tree-files.ts";

/** The trees of a data directory. */
export function storedTreesOf(
  files: FileOperations,
  layout: Layout,
  notary: Notary,
  audit: Pick<FileAuditStore, "eventsOf">,
): StoredTrees {
  const treeOf = (named: NamedLog): TreeFiles =>
    new TreeFiles(files, treeDirectory(layout, named), layout.root);
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
      return found && { line: found.line, index: () => treeOf(named).indexOf(found) };
    },
    signFor: (named) => notary.signFor(named),
  };
}
