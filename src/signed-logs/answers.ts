/** Answers requests for proofs, from the trees that an engine keeps. */
import { Conflict, NotFound } from "../core/errors.ts";
import { checkpointOf } from "../proof/checkpoint.ts";
import { HASH_BYTES } from "../proof/merkle.ts";
import { isSignedBy, vkeyOf, type Verifier } from "../proof/note.ts";
import { consistencyProof, tilePath, tileWidth } from "../proof/tiles.ts";
import { proofOf, type LoggedLine, type StoredTree } from "./prove.ts";
import type { LogName, SignedLogs } from "./store.ts";

/** The trees of an engine. */
export interface StoredTrees {
  verifierOf(organization: string, log: LogName): Verifier;
  treeOf(organization: string, log: LogName): StoredTree;
  /** The first line of a log with an id. */
  find(organization: string, log: LogName, id: string): Promise<LoggedLine | undefined>;
  /** Signs a log with all lines that were stored before; does nothing if the log contradicts its checkpoint. */
  signFor(organization: string, log: LogName): Promise<void>;
}

/** The answers from trees. */
export function signedLogsOf({ verifierOf, treeOf, find, signFor }: StoredTrees): SignedLogs {
  /** The last checkpoint. One is signed if the log has a line and there is none, or if the key was changed since. */
  const currentNote = async (organization: string, log: LogName): Promise<string | undefined> => {
    const tree = treeOf(organization, log);
    const note = await tree.lastNote();
    if (note !== undefined && isSignedBy(note, verifierOf(organization, log))) return note;
    await signFor(organization, log);
    return tree.lastNote();
  };
  return {
    verifier: (organization, log) => vkeyOf(verifierOf(organization, log)),
    async signedSize(organization, log) {
      const note = await treeOf(organization, log).lastNote();
      return note === undefined ? undefined : checkpointOf(note).size;
    },
    async checkpoint(organization, log) {
      const note = await currentNote(organization, log);
      if (note === undefined) throw new NotFound("The log is empty, and so has no checkpoint yet");
      return note;
    },
    async proof(organization, log, id) {
      const found = await find(organization, log, id);
      if (found === undefined) {
        const what = log === "audit" ? "audit event" : "activity entry";
        throw new NotFound(`There is no ${what} "${id}"`);
      }
      const tree = treeOf(organization, log);
      const prove = async (note: string | undefined) =>
        proofOf(tree, note, found.line, await found.index());
      let proof = await prove(await currentNote(organization, log));
      if (proof === "unsigned") {
        await signFor(organization, log);
        proof = await prove(await tree.lastNote());
      }
      if (proof !== "unsigned" && proof !== "changed") return proof.file;
      throw new Conflict("No checkpoint has the event as it is stored: see the service's log");
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
      const hashes = (await tree.tiles(level, index, width)).subarray(0, width * HASH_BYTES);
      if (hashes.length === width * HASH_BYTES) return hashes;
      throw new Error(`Tile ${tilePath(place)} has too few hashes`);
    },
  };
}
