import { basename } from "node:path";
import type { LogName } from "../../../signed-logs/store.ts";
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
  const treeOf = (organization: string, log: LogName): TreeFiles =>
    new TreeFiles(files, treeDirectory(layout, organization, log), layout.root);
  const find = async (organization: string, log: LogName, id: string) => {
    if (log === "activity") return findLine(files, await notary.partsOf(organization, log), id);
    const [event] = await audit.eventsOf(organization, id);
    if (event === undefined) return undefined;
    const path = segmentPath(layout.organization(organization).audit, segmentOf(event.row));
    return { file: basename(path), at: localRow(event.row), line: event.line };
  };
  return {
    verifierOf: (organization, log) => notary.signerOf(organization, log),
    treeOf,
    async find(organization, log, id): Promise<LoggedLine | undefined> {
      const found = await find(organization, log, id);
      return found && { line: found.line, index: () => treeOf(organization, log).indexOf(found) };
    },
    signFor: (organization, log) => notary.signFor(organization, log),
  };
}
