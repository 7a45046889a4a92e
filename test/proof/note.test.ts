import assert from "node:assert/strict";
import { test } from "node:test";
import { FailedProof, MalformedProof } from "../../src/proof/errors.ts";
import {
  newPrivateKey,
  openNote,
  parseVkey,
  pemOf,
  privateKeyOf,
  signerOf,
  signNote,
  vkeyOf,
} from "../../src/proof/note.ts";

/** The example of the documentation of Go's package golang.org/x/mod/sumdb/note. */
const NEUMANN = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const ROOT = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop";
const TEXT =
  "If you think cryptography is the answer to your problem,\n" +
  "then you don't know what your problem is.\n";
const NOTE = `${TEXT}
— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=
`;

const key = newPrivateKey();
const signer = signerOf("log.example.com/acme/audit", key);
const [first = "", second = ""] = NOTE.split("\n").slice(-3);

test("a published note opens with either of its keys, and with both", () => {
  const [neumann, root] = [parseVkey(NEUMANN), parseVkey(ROOT)];
  for (const verifiers of [[neumann], [root], [neumann, root], [parseVkey(vkeyOf(signer)), root]]) {
    const { text, signers } = openNote(NOTE, verifiers);
    assert.equal(text, TEXT);
    const known = verifiers.filter(({ name }) => name !== signer.name);
    assert.deepEqual(
      signers.map(({ name }) => name),
      known.map(({ name }) => name),
    );
  }
  assert.deepEqual([vkeyOf(neumann), vkeyOf(root)], [NEUMANN, ROOT]);
});

test("a key survives the way through its PEM, and signs under any name", () => {
  const again = privateKeyOf(pemOf(key));
  for (const name of ["a", "log.example.com/ü/activity"]) {
    const note = signNote("text\n\nwith an empty line\n", [signerOf(name, again)]);
    const verifier = parseVkey(vkeyOf(signerOf(name, key)));
    assert.equal(openNote(note, [verifier]).text, "text\n\nwith an empty line\n");
    assert.equal(openNote(Buffer.from(note), [verifier]).signers.length, 1);
  }
});

test("a note with each of its bytes changed does not open", () => {
  const note = Buffer.from(signNote("one\ntwo\n", [signer]));
  for (let at = 0; at < note.length; at++) {
    for (const bit of [1, 32, 128]) {
      const other = Buffer.from(note);
      other[at] = (other[at] as number) ^ bit;
      assert.throws(
        () => openNote(other, [signer]),
        (error) => error instanceof FailedProof || error instanceof MalformedProof,
        `byte ${at}`,
      );
    }
  }
});

test("signatures of unknown keys are ignored, even with half of a known key's identity", () => {
  const other = signerOf(signer.name, newPrivateKey());
  const both = signNote("text\n", [other, signer]);
  assert.deepEqual(openNote(both, [signer]).signers, [signer]);
  const many = Array.from({ length: 99 }, (_, i) => signerOf(`witness${i}`, key));
  assert.equal(openNote(signNote("text\n", [...many, signer]), [signer]).signers.length, 1);
  assert.throws(
    () => openNote(signNote("text\n", [other]), [signer]),
    /not signed by log\.example\.com\/acme\/audit\+[0-9a-f]{8}, only by log\.example/,
  );
});

test("a wrong signature of a known key fails the note, whatever else signed it", () => {
  const forged = `${TEXT}\n${first}\n${second.replace("rwz+eBzm", "rwz+eBzn")}\n`;
  assert.equal(openNote(forged, [parseVkey(NEUMANN)]).text, TEXT);
  assert.throws(
    () => openNote(forged, [parseVkey(NEUMANN), parseVkey(ROOT)]),
    /the signature of EnochRoot is wrong/,
  );
});

for (const [what, note, said] of [
  ["nothing", "", /an empty line between/],
  ["no signature", `${TEXT}\n`, /at least one signature/],
  ["no text", `\n\n${first}\n`, /the signature of PeterNeumann is wrong/],
  ["no empty line", `${TEXT}${first}\n`, /an empty line between/],
  ["no line end", NOTE.slice(0, -1), /ends with a line end/],
  ["a carriage return", NOTE.replace("problem,\n", "problem,\r\n"), /no control characters/],
  ["a hyphen", NOTE.replace("— Peter", "- Peter"), /expected — NAME BASE64/],
  ["a name with a plus sign", NOTE.replace("— Peter", "— +Peter"), /expected — NAME BASE64/],
  ["no signature after the name", `${TEXT}\n— PeterNeumann\n`, /expected — NAME BASE64/],
  ["a signature of a key id", `${TEXT}\n— PeterNeumann x08gow==\n`, /expected — NAME BASE64/],
  ["Base64 without padding", NOTE.replaceAll("=", ""), /expected — NAME BASE64/],
  ["Base64 for URLs", NOTE.replaceAll("/", "_"), /expected — NAME BASE64/],
  ["101 signatures", `${TEXT}\n${`${first}\n`.repeat(101)}`, /at most 100 signatures/],
  ["more than a mebibyte", `${"x".repeat(1 << 20)}\n\n${first}\n`, /at most 1 MiB/],
] as const) {
  test(`a note with ${what} is refused`, () => {
    assert.throws(() => openNote(note, [parseVkey(NEUMANN)]), { message: said });
  });
}

test("bytes that are not UTF-8 are refused", () => {
  const note = Buffer.concat([Buffer.of(0xff), Buffer.from(NOTE)]);
  assert.throws(() => openNote(note, [parseVkey(NEUMANN)]), /UTF-8/);
});

test("only texts that can be read again are signed", () => {
  for (const text of ["", "no line end", "a\tb\n", "a\r\n", "\0\n"]) {
    assert.throws(() => signNote(text, [signer]), MalformedProof, JSON.stringify(text));
  }
  for (const name of ["", "a b", "a+b", "a\u00a0b", "a\nb"]) {
    assert.throws(() => signerOf(name, key), /expected neither spaces nor plus signs/);
  }
});

for (const vkey of [
  "",
  "name",
  NEUMANN.replace("c74f20a3", "c74f20a4"),
  NEUMANN.replace("c74f20a3", "C74F20A3"),
  NEUMANN.replace("Peter", "Paul"),
  NEUMANN.replace("+AR", "+BR"),
  NEUMANN.slice(0, -4),
  NEUMANN.replace("Peter", "Peter "),
  `${NEUMANN}\n`,
]) {
  test(`${JSON.stringify(vkey)} is refused as a key`, () => {
    assert.throws(() => parseVkey(vkey), MalformedProof);
  });
}

test("a private key that cannot be used is refused, without a word of it", () => {
  const pem = pemOf(key);
  const [, secret = ""] = pem.split("\n");
  const rsa = pem.replace(secret, `${secret.slice(0, 20)}x${secret.slice(21)}`);
  for (const text of ["", "secret words", rsa.replace("MC4", "MC5"), pem.replace("PRIVATE", "X")]) {
    assert.throws(
      () => privateKeyOf(text),
      (error: Error) =>
        error instanceof MalformedProof &&
        error.message === "expected an Ed25519 private key as PKCS#8 PEM" &&
        error.cause === undefined,
    );
  }
});
