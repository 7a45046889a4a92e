/**
 * Verifies proofs with two implementations that were not written here: Sigstore's client for Node, and the
 * packages behind Go's checksum database. Both also refuse what is wrong, or their consent would mean little.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, type KeyObject } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, test } from "node:test";
import { formatCheckpoint } from "../../src/proof/checkpoint.ts";
import { newPrivateKey, signerOf, signNote, vkeyOf } from "../../src/proof/note.ts";
import { consistencyProof, inclusionProof, rootFromTiles } from "../../src/proof/tiles.ts";
import { formatProof } from "../../src/proof/tlog-proof.ts";
import { buildGo, withoutGo } from "../support/go-program.ts";
import { newDirectory } from "../support/server-process.ts";
import { linesOf, tiledTree } from "./naive-tree.ts";

const origin = "log.example.com/acme/audit";
const signer = signerOf(origin, newPrivateKey());
const lines = linesOf(700);
const { read } = tiledTree(lines);
const SIZES = [1, 2, 3, 6, 7, 8, 100, 255, 256, 257, 511, 512, 513, 700];

async function checkpointAt(size: number): Promise<string> {
  const root = await rootFromTiles(size, read);
  return signNote(formatCheckpoint({ origin, size, root, extensions: [] }), [signer]);
}

const indexesBelow = (size: number): readonly number[] =>
  [...new Set([0, 1, size >> 1, size - 2, size - 1])].filter((at) => at >= 0 && at < size);

const changed = (hashes: readonly Buffer[], at: number): readonly Buffer[] =>
  hashes.map((hash, i) => (i === at ? createHash("sha256").update(hash).digest() : hash));

/** The parts of `@sigstore/verify` that it exports to itself only, so it has no types for them. */
interface Sigstore {
  verifyCheckpoint(entry: SigstoreEntry, logs: readonly object[]): { readonly logSize: bigint };
  verifyMerkleInclusion(entry: SigstoreEntry, checkpoint: object): void;
}
interface SigstoreEntry {
  readonly canonicalizedBody: Buffer;
  readonly inclusionProof: {
    readonly logIndex: string;
    readonly hashes: readonly Buffer[];
    readonly checkpoint: { readonly envelope: string };
  };
}
const require = createRequire(import.meta.url);
const sigstore: Sigstore = {
  ...require("@sigstore/verify/dist/tlog/checkpoint.js"),
  ...require("@sigstore/verify/dist/tlog/merkle.js"),
};

function sigstoreVerifies(entry: SigstoreEntry, key: KeyObject): void {
  const log = { logID: Buffer.from(signer.id, "hex"), baseURL: origin, publicKey: key };
  sigstore.verifyMerkleInclusion(entry, sigstore.verifyCheckpoint(entry, [log]));
}

test("Sigstore's client verifies checkpoints and inclusion proofs", async () => {
  for (const size of SIZES) {
    const envelope = await checkpointAt(size);
    for (const index of indexesBelow(size)) {
      const hashes = await inclusionProof(index, size, read);
      const entryOf = (line: string, proof = hashes, note = envelope): SigstoreEntry => ({
        canonicalizedBody: createHash("sha256").update(line).digest(),
        inclusionProof: {
          ...{ logIndex: String(index), hashes: proof, checkpoint: { envelope: note } },
        },
      });
      const line = lines[index] ?? "";
      sigstoreVerifies(entryOf(line), signer.key);
      const refused = (entry: SigstoreEntry, key = signer.key) =>
        assert.throws(() => sigstoreVerifies(entry, key), /hash|signature/, `${index} of ${size}`);
      refused(entryOf(`${line} `));
      refused(entryOf(line), signerOf(origin, newPrivateKey()).key);
      refused(entryOf(line, hashes, envelope.replace(`\n${size}\n`, `\n${size + 1}\n`)));
      for (const at of hashes.keys()) refused(entryOf(line, changed(hashes, at)));
    }
  }
});

const folder = await newDirectory({ after });
const program = join(folder, "check-proof");
if (withoutGo === false) {
  buildGo(join(import.meta.dirname, "../../docs/check-proof.go"), program);
}

async function go(what: string, files: readonly string[]): Promise<string> {
  const paths = files.map((_, i) => join(folder, String(i)));
  await Promise.all(files.map((text, i) => writeFile(paths[i] ?? "", text)));
  const ran = spawnSync(program, [vkeyOf(signer), what, ...paths], { encoding: "utf8" });
  return ran.stdout + ran.stderr;
}

test("Go's packages verify proof files", { skip: withoutGo }, async () => {
  for (const size of SIZES) {
    const checkpoint = await checkpointAt(size);
    for (const index of indexesBelow(size)) {
      const hashes = await inclusionProof(index, size, read);
      const line = lines[index] ?? "";
      const file = formatProof({ index, hashes, checkpoint });
      const said = `the line is event ${index} of the ${size} in the checkpoint\n`;
      assert.equal(await go("inclusion", [file, `${line}\n`]), said);
      assert.match(await go("inclusion", [file, `${line} `]), /invalid transparency proof/);
      const at = index % Math.max(1, hashes.length);
      const wrong = formatProof({ index, hashes: changed(hashes, at), checkpoint });
      if (size > 1) assert.match(await go("inclusion", [wrong, line]), /invalid transparency/);
    }
  }
  const other = signNote("x\n", [signerOf(origin, newPrivateKey())]);
  const unsigned = formatProof({ index: 0, hashes: [], checkpoint: other });
  assert.match(await go("inclusion", [unsigned, ""]), /note has no verifiable signatures/);
});

test("Go's packages verify consistency proofs", { skip: withoutGo }, async () => {
  for (const to of SIZES) {
    for (const from of SIZES.filter((size) => size <= to)) {
      const notes = [await checkpointAt(from), await checkpointAt(to)];
      const proof = await consistencyProof(from, to, read);
      const answer = (hashes: readonly Buffer[]): string =>
        JSON.stringify({ from, to, hashes: hashes.map((hash) => hash.toString("base64")) });
      const said = `the first ${from} of the ${to} events are those of the older checkpoint\n`;
      assert.equal(await go("consistency", [...notes, answer(proof)]), said);
      if (from === to) continue;
      const wrong = changed(proof, to % proof.length);
      const refusal = await go("consistency", [...notes, answer(wrong)]);
      assert.match(refusal, /invalid transparency proof/, `${from} to ${to}`);
    }
  }
});
