/** Answers requests for proofs, from the trees that the notary keeps. */
import { basename } from "node:path";
import { Conflict, NotFound } from "../../../core/errors.ts";
import { checkpointOf } from "../../../proof/checkpoint.ts";
import { HASH_BYTES, leafHash } from "../../../proof/merkle.ts";
import { vkeyOf } from "../../../proof/note.ts";
import {
  consistencyProof,
  inclusionProof,
  TILE_WIDTH,
  tilePath,
  tileWidth,
} from "../../../proof/tiles.ts";
import { formatProof } from "../../../proof/tlog-proof.ts";
import type { LogName, SignedLogs } from "../../../signed-logs/store.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { segmentPath } from "../../segmented-log.ts";
import type { FileAuditStore } from "../audit.ts";
import { localRow, segmentOf } from "../audit/index/segment-index.ts";
import { findLine, type FoundLine } from "./find-line.ts";
import { treeDirectory } from "./log-sources.ts";
import type { Notary } from "./notary.ts";
import { TreeFiles } from "./tree-files.ts";

/** The proofs of a data directory. */
export function signedLogsOf(
  files: FileOperations,
  layout: Layout,
  notary: Notary,
  audit: Pick<FileAuditStore, "eventsOf">,
): SignedLogs {
  const treeOf = (organization: string, log: LogName): TreeFiles =>
    new TreeFiles(files, treeDirectory(layout, organization, log), layout.root);
  const find = async (organization: string, log: LogName, id: string): Promise<FoundLine> => {
    if (log === "activity") {
      const found = await findLine(files, await notary.partsOf(organization, log), id);
      if (found !== undefined) return found;
      throw new NotFound(`There is no activity entry "${id}"`);
    }
    const [event] = await audit.eventsOf(organization, id);
    if (event === undefined) throw new NotFound(`There is no audit event "${id}"`);
    const file = basename(
      segmentPath(layout.organization(organization).audit, segmentOf(event.row)),
    );
    return { file, at: localRow(event.row), line: event.line };
  };
  return {
    verifier: (organization, log) => vkeyOf(notary.signerOf(organization, log)),
    async signedSize(organization, log) {
      const note = await treeOf(organization, log).lastNote();
      return note === undefined ? undefined : checkpointOf(note).size;
    },
    async checkpoint(organization, log) {
      const tree = treeOf(organization, log);
      let note = await tree.lastNote();
      if (note === undefined) {
        await notary.signFor(organization, log); // the first one, if the log has a line
        note = await tree.lastNote();
      }
      if (note === undefined) throw new NotFound("The log is empty, and so has no checkpoint yet");
      return note;
    },
    async proof(organization, log, id) {
      const { file, at, line } = await find(organization, log, id);
      const tree = treeOf(organization, log);
      const place = async () => {
        const note = await tree.lastNote();
        const size = note === undefined ? 0 : checkpointOf(note).size;
        const start = (await tree.readPosition())?.starts[file] ?? size;
        return { note, size, index: start + at };
      };
      let { note, size, index } = await place();
      if (index >= size) {
        await notary.signFor(organization, log);
        ({ note, size, index } = await place());
      }
      const tile = await tree.readTile(0, Math.floor(index / TILE_WIDTH));
      const offset = (index % TILE_WIDTH) * HASH_BYTES;
      const isSigned = tile?.subarray(offset, offset + HASH_BYTES).equals(leafHash(line));
      if (note === undefined || index >= size || isSigned !== true) {
        throw new Conflict("No checkpoint has the event as it is stored: see the service's log");
      }
      const hashes = await inclusionProof(index, size, tree.tiles);
      return formatProof({ index, hashes, checkpoint: note });
    },
    async consistency(organization, log, from, to) {
      const tree = treeOf(organization, log);
      const note = await tree.lastNote();
      if (note === undefined || to > checkpointOf(note).size) return undefined;
      return consistencyProof(from, to, tree.tiles);
    },
    async tile(organization, log, place) {
      const { level, index, width } = place;
      const tree = treeOf(organization, log);
      const note = await tree.lastNote();
      // Hashes behind the last checkpoint may change after a crash.
      if (note === undefined || tileWidth(checkpointOf(note).size, level, index) < width)
        return undefined;
      const hashes = (await tree.readTile(level, index))?.subarray(0, width * HASH_BYTES);
      if (hashes?.length === width * HASH_BYTES) return hashes;
      throw new Error(`Tile ${tilePath(place)} has too few hashes`);
    },
  };
}
