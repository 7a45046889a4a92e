import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCheckpoint } from "../../src/proof/checkpoint.ts";
import { newPrivateKey, signerOf, signNote, vkeyOf } from "../../src/proof/note.ts";
import { consistencyProof } from "../../src/proof/tiles.ts";
import {
  checkpointIn,
  continues,
  isSignedBy,
  type Checkpoint,
} from "../../src/portal/browser/checkpoints.ts";
import { linesOf, tiledTree } from "../proof/naive-tree.ts";

const origin = "log.example.com/acme/audit";
const signer = signerOf(origin, newPrivateKey());
const keyOf = (one: typeof signer): string => vkeyOf(one).split("+").slice(2).join("+");
const SIZES = [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 255, 256, 257, 300] as const;
const trees = new Map(SIZES.map((size) => [size, tiledTree(linesOf(size))]));

const stateAt = (size: (typeof SIZES)[number]): Checkpoint => ({
  ...{ origin, size, root: trees.get(size)?.tree.root().toString("base64") ?? "" },
});

async function proofOf(from: number, to: (typeof SIZES)[number]): Promise<readonly string[]> {
  const hashes = await consistencyProof(from, to, trees.get(to)?.read ?? assert.fail());
  return hashes.map((hash) => hash.toString("base64"));
}

test("a log continues each earlier state of it, and no other", async () => {
  const other = Buffer.alloc(32, 1).toString("base64");
  for (const from of SIZES) {
    for (const to of SIZES.filter((size) => size >= from)) {
      const [old, present, proof] = [stateAt(from), stateAt(to), await proofOf(from, to)];
      assert.equal(await continues(old, present, proof), true, `${from} ${to}`);
      assert.equal(await continues({ ...old, root: other }, present, proof), false);
      assert.equal(await continues(old, { ...present, root: other }, proof), false);
      if (from === to) continue;
      assert.equal(await continues(present, old, proof), false);
      assert.equal(await continues(old, present, [...proof, other]), false);
      assert.equal(await continues(old, present, proof.slice(1)), false);
      assert.equal(await continues(old, present, proof.with(-1, "AAAA")), false);
    }
  }
});

test("a signature is checked, and one of another key or name is none", async () => {
  const text = formatCheckpoint({ origin, size: 3, root: Buffer.alloc(32), extensions: [] });
  const note = signNote(text, [signer]);
  assert.deepEqual(checkpointIn(note), { origin, size: 3, root: `${"A".repeat(43)}=` });
  assert.equal(await isSignedBy(note, keyOf(signer)), "yes");
  assert.equal(await isSignedBy(note.replace("\n3\n", "\n4\n"), keyOf(signer)), "no");
  const other = signerOf(origin, newPrivateKey());
  assert.equal(await isSignedBy(note, keyOf(other)), "no");
  assert.equal(await isSignedBy(signNote(text, [signer, other]), keyOf(other)), "yes");
  const witness = signerOf("witness.example.com", signer.privateKey);
  assert.equal(await isSignedBy(signNote(text, [witness]), keyOf(signer)), "no");
  for (const key of ["", "AAAA", "%"]) assert.equal(await isSignedBy(note, key), "no");
});

test("other texts are no checkpoints", () => {
  for (const text of ["", "a\n", "a b\n3\nAAAA\n\n", "a\n-3\n", "a\n03\n"]) {
    assert.equal(checkpointIn(text), undefined, text);
  }
});
