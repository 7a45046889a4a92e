import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { formatCheckpoint } from "../../src/proof/checkpoint.ts";
import { newPrivateKey, signerOf, signNote, vkeyOf } from "../../src/proof/note.ts";
import { inclusionProof } from "../../src/proof/tiles.ts";
import { formatProof } from "../../src/proof/tlog-proof.ts";
import { linesOf, tiledTree } from "../proof/naive-tree.ts";
import { run } from "../support/command-line.ts";
import { newDirectory } from "../support/server-process.ts";

const origin = "log.example.com/acme/audit";
const signer = signerOf(origin, newPrivateKey());
const vkey = vkeyOf(signer);
const lines = linesOf(300);
const { tree, read } = tiledTree(lines);
const text = formatCheckpoint({ origin, size: 300, root: tree.root(), extensions: [] });
const hashes = await inclusionProof(7, 300, read);
const PROOF = formatProof({ index: 7, hashes, checkpoint: signNote(text, [signer]) });
const LINE = lines[7] ?? "";

const folder = await newDirectory({ after });
const proof = join(folder, "e.tlog-proof");
const event = join(folder, "event.json");

async function verify(proofText: string, eventText: string, key = vkey) {
  await writeFile(proof, proofText);
  await writeFile(event, eventText);
  return run(["verify-proof", proof, "--event", event, "--key", key]);
}

test("an event with its proof is accepted, with and without a line end", async () => {
  const out = `${event}: is event 7 of the first 300 in ${origin}\n`;
  for (const line of [LINE, `${LINE}\n`]) {
    assert.deepEqual(await verify(PROOF, line), { code: 0, out, error: "" });
  }
});

for (const [what, ran, said] of [
  ["another event", () => verify(PROOF, lines[8] ?? ""), /the line is not event 7 of the 300/],
  ["a space more", () => verify(PROOF, `${LINE} `), /the line is not event 7 of the 300/],
  [
    "another key of the same name",
    () => verify(PROOF, LINE, vkeyOf(signerOf(origin, newPrivateKey()))),
    /not signed by log\.example\.com/,
  ],
  [
    "a changed checkpoint",
    () => verify(PROOF.replace("\n300\n", "\n301\n"), LINE),
    /signature of log\.example\.com\/acme\/audit is wrong/,
  ],
] as const) {
  test(`${what} is exit code 1, with the reason`, async () => {
    const { code, out, error } = await ran();
    assert.deepEqual([code, out], [1, ""]);
    assert.match(error, said);
    assert.match(error, /^signalbox verify-proof: [^\n]+\n$/);
  });
}

for (const [what, ran, said] of [
  ["a file that is not a proof", () => verify("{}", LINE), /e\.tlog-proof: a proof has an empty/],
  ["an empty event", () => verify(PROOF, ""), /event\.json: expected one line/],
  ["two lines", () => verify(PROOF, `${LINE}\n${LINE}\n`), /event\.json: expected one line/],
  ["a word as the key", () => verify(PROOF, LINE, "key"), /--key: expected the key as NAME\+ID/],
  ["no key", () => run(["verify-proof", proof, "--event", event]), /--key is missing/],
  ["no event", () => run(["verify-proof", proof, "--key", vkey]), /--event is missing/],
  [
    "a missing file",
    () => run(["verify-proof", join(folder, "none"), "--event", event, "--key", vkey]),
    /none: does not exist/,
  ],
  [
    "a device without an end",
    () => run(["verify-proof", "/dev/zero", "--event", event, "--key", vkey]),
    /\/dev\/zero: is larger than 1 MiB/,
  ],
  [
    "a device without an end as the event",
    () => run(["verify-proof", proof, "--event", "/dev/zero", "--key", vkey]),
    /\/dev\/zero: is larger than 32 MiB: give the event as it was exported/,
  ],
] as const) {
  test(`${what} is exit code 2`, async () => {
    const { code, out, error } = await ran();
    assert.deepEqual([code, out], [2, ""]);
    assert.match(error, said);
  });
}
