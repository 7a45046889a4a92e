import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCheckpoint } from "../../src/proof/checkpoint.ts";
import { FailedProof, MalformedProof } from "../../src/proof/errors.ts";
import { newPrivateKey, signerOf, signNote } from "../../src/proof/note.ts";
import { inclusionProof } from "../../src/proof/tiles.ts";
import { formatProof, parseProof, verifyProof } from "../../src/proof/tlog-proof.ts";
import { linesOf, tiledTree } from "./naive-tree.ts";

const origin = "log.example.com/acme/audit";
const signer = signerOf(origin, newPrivateKey());
const lines = linesOf(300);
const { tree, read } = tiledTree(lines);
const note = signNote(formatCheckpoint({ origin, size: 300, root: tree.root(), extensions: [] }), [
  signer,
]);
const INDEX = 277;
const LINE = Buffer.from(lines[INDEX] ?? "");
const proof = { index: INDEX, hashes: await inclusionProof(INDEX, 300, read), checkpoint: note };
const FILE = formatProof(proof);

test("a proof file verifies, and names the index and the checkpoint", () => {
  const { index, checkpoint } = verifyProof(FILE, LINE, signer);
  assert.deepEqual([index, checkpoint.size, checkpoint.origin], [INDEX, 300, origin]);
});

test("a proof file has the format of the specification", () => {
  assert.match(
    FILE,
    /^c2sp\.org\/tlog-proof@v1\nindex 277\n(?:[\w+/]{43}=\n){7}\nlog\.example\.com\/acme\/audit\n300\n/,
  );
  assert.deepEqual(parseProof(FILE), { extra: undefined, ...proof });
  const extra = Buffer.from("more");
  const extended = formatProof({ ...proof, extra });
  assert.match(extended, /^c2sp\.org\/tlog-proof@v1\nextra bW9yZQ==\nindex 277\n/);
  assert.deepEqual(parseProof(extended), { ...proof, extra });
  assert.equal(verifyProof(extended, LINE, signer).index, INDEX);
});

test("the proof of the only line has no hashes", async () => {
  const one = tiledTree(["{}"]);
  const checkpoint = signNote(
    formatCheckpoint({ origin, size: 1, root: one.tree.root(), extensions: [] }),
    [signer],
  );
  const file = formatProof({ index: 0, hashes: await inclusionProof(0, 1, one.read), checkpoint });
  assert.equal(verifyProof(file, Buffer.from("{}"), signer).index, 0);
});

test("a proof file with each of its bytes changed proves nothing", () => {
  const bytes = Buffer.from(FILE);
  for (let at = 0; at < bytes.length; at++) {
    const other = Buffer.from(bytes);
    other[at] = (other[at] as number) ^ 1;
    assert.throws(
      () => verifyProof(other.toString(), LINE, signer),
      (error) => error instanceof FailedProof || error instanceof MalformedProof,
      `byte ${at}`,
    );
  }
});

test("a line with each of its bytes changed is not proven", () => {
  for (let at = 0; at < LINE.length; at++) {
    const other = Buffer.from(LINE);
    other[at] = (other[at] as number) ^ 1;
    assert.throws(() => verifyProof(FILE, other, signer), /the line is not event 277 of the 300/);
  }
});

test("a proof by another key, and one of another log, are refused", () => {
  const other = signerOf(origin, newPrivateKey());
  assert.throws(() => verifyProof(FILE, LINE, other), /not signed by/);
  const stranger = signerOf("other.example.com/log", newPrivateKey());
  const cosigned = signNote(note.slice(0, note.indexOf("\n\n") + 1), [signer, stranger]);
  assert.throws(
    () => verifyProof(formatProof({ ...proof, checkpoint: cosigned }), LINE, stranger),
    /the checkpoint is of the log log\.example\.com\/acme\/audit, the key of other\.example\.com/,
  );
});

for (const [what, file, said] of [
  ["nothing", "", /an empty line/],
  ["another version", FILE.replace("@v1", "@v2"), /line 1: expected/],
  ["no index", FILE.replace("index 277\n", ""), /index: expected/],
  ["an index with a leading zero", FILE.replace("277", "0277"), /index: expected/],
  ["a negative index", FILE.replace("277", "-1"), /index: expected/],
  ["extra data that is not Base64", FILE.replace("index", "extra ?\nindex"), /extra: expected/],
  ["extra data after the index", FILE.replace("277\n", "277\nextra AA==\n"), /hash 1 of the proof/],
  ["half a hash", FILE.replace(/277\n.{20}/, "277\n"), /hash 1 of the proof/],
] as const) {
  test(`a proof with ${what} is refused`, () => {
    assert.throws(() => verifyProof(file, LINE, signer), { message: said });
  });
}
