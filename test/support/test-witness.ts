/** A witness of one log that follows the specification C2SP tlog-witness. */
import { openCheckpoint, type Checkpoint } from "../../src/proof/checkpoint.ts";
import { newPrivateKey, signerOf, signNote, type Verifier } from "../../src/proof/note.ts";
import { verifyConsistency } from "../proof/verify-consistency.ts";
import type { NoteReply } from "./note-receiver.ts";

export class TestWitness {
  readonly signer = signerOf("witness.example.com", newPrivateKey());
  /** The key of the log. */
  key: Verifier | undefined;
  /** The last checkpoint that it has signed. */
  seen: Checkpoint | undefined;

  /** The answer to a request of `add-checkpoint`. */
  answer(request: string): NoteReply {
    const end = request.indexOf("\n\n");
    const [first = "", ...hashes] = request.slice(0, end).split("\n");
    const old = Number(/^old (0|[1-9]\d*)$/.exec(first)?.[1]);
    const note = request.slice(end + 2);
    if (!note.startsWith(`${this.key?.name}\n`)) return [404];
    const checkpoint = openCheckpoint(note, this.key ? [this.key] : []);
    const { size, root } = checkpoint;
    if (!(old <= size)) return [400];
    const known = this.seen ?? { size: 0, root: undefined };
    if (old !== known.size || (old === size && known.root?.equals(root) === false)) {
      return [409, `${known.size}\n`, { "content-type": "text/x.tlog.size" }];
    }
    const proof = hashes.map((hash) => Buffer.from(hash, "base64"));
    const isRight = known.root
      ? verifyConsistency(old, size, proof, known.root, root)
      : proof.length === 0;
    if (!isRight) return [422];
    this.seen = checkpoint;
    const text = note.slice(0, note.lastIndexOf("\n\n") + 1);
    return [200, signNote(text, [this.signer]).slice(text.length + 1)];
  }
}
