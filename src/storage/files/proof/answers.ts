/** Answers requests for proofs of the audit logs, from the trees that the notary keeps. */
import { Conflict, NotFound } from "../../../core/errors.ts";
import { parseCheckpoint } from "../../../proof/checkpoint.ts";
import { HASH_BYTES, leafHash } from "../../../proof/merkle.ts";
import { vkeyOf } from "../../../proof/note.ts";
import { consistencyProof, inclusionProof, TILE_WIDTH } from "../../../proof/tiles.ts";
import { formatProof } from "../../../proof/tlog-proof.ts";
import type { ProofStore } from "../../../signed-logs/store.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import type { FileAuditStore } from "../audit.ts";
import { localRow, segmentOf } from "../audit/index/segment-index.ts";
import { treeDirectory } from "./log-sources.ts";
import type { Notary } from "./notary.ts";
import { TreeFiles } from "./tree-files.ts";

/** The proofs of a data directory. */
export function proofAnswers(
  files: FileOperations,
  layout: Layout,
  notary: Notary,
  audit: Pick<FileAuditStore, "eventsOf">,
): ProofStore {
  const treeOf = (organization: string): TreeFiles =>
    new TreeFiles(files, treeDirectory(layout, organization, "audit"), layout.root);
  const readerOf = (tree: TreeFiles) => async (level: number, index: number) =>
    (await tree.readTile(level, index)) ?? Buffer.alloc(0);
  const lastNote = async (organization: string): Promise<string> => {
    const note = await treeOf(organization).lastNote();
    if (note === undefined) throw new NotFound("There is no event, and so no checkpoint yet");
    return note;
  };
  return {
    verifier: (organization) => vkeyOf(notary.signerOf(organization, "audit")),
    async checkpoint(organization) {
      const note = await treeOf(organization).lastNote();
      if (note !== undefined) return note;
      await notary.signFor(organization, "audit"); // the first one, if there is an event
      return lastNote(organization);
    },
    async proof(organization, id) {
      const [event] = await audit.eventsOf(organization, id);
      if (event === undefined) throw new NotFound(`There is no audit event "${id}"`);
      const tree = treeOf(organization);
      const name = `${String(segmentOf(event.row)).padStart(12, "0")}.jsonl`;
      const place = async () => {
        const note = await tree.lastNote();
        const start = (await tree.readPosition())?.starts[name];
        const size = note === undefined ? 0 : sizeOf(note);
        const index = (start ?? size) + localRow(event.row);
        return { note, size, index };
      };
      let { note, size, index } = await place();
      if (index >= size) {
        await notary.signFor(organization, "audit");
        ({ note, size, index } = await place());
      }
      const tile = await tree.readTile(0, Math.floor(index / TILE_WIDTH));
      const at = (index % TILE_WIDTH) * HASH_BYTES;
      const isSigned = tile?.subarray(at, at + HASH_BYTES).equals(leafHash(event.line));
      if (note === undefined || index >= size || isSigned !== true) {
        throw new Conflict("No checkpoint has the event as it is stored: see the service's log");
      }
      const hashes = await inclusionProof(index, size, readerOf(tree));
      return formatProof({ index, hashes, checkpoint: note });
    },
    async consistency(organization, from, to) {
      const note = await treeOf(organization).lastNote();
      if (note === undefined || to > sizeOf(note)) return undefined;
      return consistencyProof(from, to, readerOf(treeOf(organization)));
    },
  };
}

function sizeOf(note: string): number {
  return parseCheckpoint(note.slice(0, note.lastIndexOf("\n\n") + 1)).size;
}
