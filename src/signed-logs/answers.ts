/** Answers requests for proofs, from the trees that an engine keeps. */
import { Conflict, NotFound } from "../core/errors.ts";
import { checkpointOf } from "../proof/checkpoint.ts";
import type { NamedLog } from "../proof/log-name.ts";
import { HASH_BYTES } from "../proof/merkle.ts";
import { isSignedBy, vkeyOf, type Verifier } from "../proof/note.ts";
import { consistencyProof, tilePath, tileWidth } from "../proof/tiles.ts";
import { proofOf, type LoggedLine, type StoredTree } from "./prove.ts";
import type { SignedLogs } from "./store.ts";

/** The trees of an engine. */
export interface StoredTrees {
  verifierOf(log: NamedLog): Verifier;
  treeOf(log: NamedLog): StoredTree;
  /** The first line of a log with an id. */
  find(log: NamedLog, id: string): Promise<LoggedLine | undefined>;
  /** Signs a log with all lines that were stored before; does nothing if the log contradicts its checkpoint. */
  signFor(log: NamedLog): Promise<void>;
}

/** The answers from trees. */
export function signedLogsOf({ verifierOf, treeOf, find, signFor }: StoredTrees): SignedLogs {
  /** The last checkpoint. One is signed if the log has a line and there is none, or if the key was changed since. */
  const currentNote = async (log: NamedLog): Promise<string | undefined> => {
    const tree = treeOf(log);
    const note = await tree.lastNote();
    if (note !== undefined && isSignedBy(note, verifierOf(log))) return note;
    await signFor(log);
    return tree.lastNote();
  };
  return {
    verifier: (log) => vkeyOf(verifierOf(log)),
    async signedSize(log) {
      const note = await treeOf(log).lastNote();
      return note === undefined ? undefined : checkpointOf(note).size;
    },
    async checkpoint(log) {
      const note = await currentNote(log);
      if (note === undefined) throw new NotFound("The log is empty, and so has no checkpoint yet");
      return note;
    },
    async proof(log, id) {
      const found = await find(log, id);
      if (found === undefined) {
        const what = log.log === "audit" ? "audit event" : "activity entry";
        throw new NotFound(`There is no ${what} "${id}"`);
      }
      const tree = treeOf(log);
      const prove = async (note: string | undefined) =>
        proofOf(tree, note, found.line, await found.index());
      let proof = await prove(await currentNote(log));
      if (proof === "unsigned") {
        await signFor(log);
        proof = await prove(await tree.lastNote());
      }
      if (proof !== "unsigned" && proof !== "changed") return proof.file;
      throw new Conflict("No checkpoint has the event as it is stored: see the service's log");
    },
    async consistency(log, from, to) {
      const tree = treeOf(log);
      const note = await tree.lastNote();
      if (note === undefined || to > checkpointOf(note).size) return undefined;
      return consistencyProof(from, to, tree.tiles);
    },
    async tile(log, place) {
      const { level, index, width } = place;
      const tree = treeOf(log);
      const note = await tree.lastNote();
      // Hashes behind the last checkpoint may change after a crash.
      if (note === undefined || tileWidth(checkpointOf(note).size, level, index) < width)
        return undefined;
      const hashes = (await tree.tiles(level, index, width)).subarray(0, width * HASH_BYTES);
      if (hashes.length === width * HASH_BYTES) return hashes;
      throw new Error(`Tile ${tilePath(place)} has too few hashes`);
    },
  };
}
