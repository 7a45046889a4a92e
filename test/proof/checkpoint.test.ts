import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCheckpoint, openCheckpoint, parseCheckpoint } from "../../src/proof/checkpoint.ts";
import { MalformedProof } from "../../src/proof/errors.ts";
import { newPrivateKey, signerOf, signNote } from "../../src/proof/note.ts";

/** The example of the specification. */
const TEXT =
  "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";

test("the example of the specification is read, and written again", () => {
  const checkpoint = parseCheckpoint(TEXT);
  assert.equal(checkpoint.origin, "example.com/behind-the-sofa");
  assert.equal(checkpoint.size, 20_852_163);
  assert.equal(checkpoint.root.toString("hex").slice(0, 8), "0ac5186a");
  assert.deepEqual(checkpoint.extensions, []);
  assert.equal(formatCheckpoint(checkpoint), TEXT);
  const extended = { ...checkpoint, extensions: ["first 17", "x y"] };
  assert.deepEqual(parseCheckpoint(formatCheckpoint(extended)), extended);
});

test("a signed checkpoint opens with the log's key alone", () => {
  const signer = signerOf("example.com/behind-the-sofa", newPrivateKey());
  const note = signNote(TEXT, [signer]);
  assert.equal(openCheckpoint(note, [signer]).size, 20_852_163);
  const other = signerOf(signer.name, newPrivateKey());
  assert.throws(() => openCheckpoint(note, [other]), /not signed by/);
});

for (const [what, text] of [
  ["nothing", ""],
  ["no line end", TEXT.slice(0, -1)],
  ["two lines", "origin\n1\n"],
  ["an empty origin", TEXT.replace(/^.*/, "")],
  ["an empty extension line", `${TEXT}\nx\n`],
  ["a leading zero", TEXT.replace("208", "0208")],
  ["a sign", TEXT.replace("208", "+208")],
  ["hexadecimal", TEXT.replace("20852163", "0x1")],
  ["a size of 2^53", TEXT.replace("20852163", "9007199254740992")],
  ["a root of 31 bytes", TEXT.replace(/Cs.*=/, Buffer.alloc(31).toString("base64"))],
  ["a root without padding", TEXT.replace("I=", "I")],
  ["a root with unused bits", TEXT.replace("I=", "J=")],
] as const) {
  test(`a checkpoint with ${what} is refused`, () => {
    assert.throws(() => parseCheckpoint(text), MalformedProof);
  });
}
