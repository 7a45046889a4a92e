/**
 * Signed notes of C2SP signed-note with Ed25519 signatures: a text, an empty line, and one line for each
 * signature. One key can sign under several names: the key id is derived from name and key.
 */
import { isUtf8 } from "node:buffer";
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";
import { decodeBase64 } from "./base64.ts";
import { FailedProof, MalformedProof, UnknownSigner } from "./errors.ts";

const ED25519 = 0x01;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const ID_BYTES = 4;
const MAX_NOTE_BYTES = 1 << 20;
const MAX_SIGNATURES = 100;
const KEY_NAME = /^[^\s\p{Z}\p{Cc}+]+$/u;

/** A public key under a name. */
export interface Verifier {
  readonly name: string;
  /** Eight hexadecimal digits. */
  readonly id: string;
  readonly key: KeyObject;
}

/** A private key under a name. */
export interface Signer extends Verifier {
  readonly privateKey: KeyObject;
}

/** Draws a new Ed25519 key. */
export function newPrivateKey(): KeyObject {
  return generateKeyPairSync("ed25519").privateKey;
}

/** A private key as PKCS#8 PEM. */
export function pemOf(key: KeyObject): string {
  return key.export({ format: "pem", type: "pkcs8" }).toString();
}

/**
 * Reads a private key from PKCS#8 PEM.
 *
 * @throws MalformedProof without a word of the text, which is a secret
 */
export function privateKeyOf(pem: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey({ key: pem, format: "pem" });
  } catch {
    // The cause could quote the key.
  }
  if (key?.asymmetricKeyType !== "ed25519") {
    throw new MalformedProof("expected an Ed25519 private key as PKCS#8 PEM");
  }
  return key;
}

/** The signer that uses a private key under a name. */
export function signerOf(name: string, privateKey: KeyObject): Signer {
  return { ...verifierOf(name, createPublicKey(privateKey)), privateKey };
}

/** The verifier of a public key under a name. */
export function verifierOf(name: string, key: KeyObject): Verifier {
  if (!KEY_NAME.test(name)) {
    throw new MalformedProof(`key name "${name}": expected neither spaces nor plus signs`);
  }
  const typed = `${name}\n`;
  const bytes = Buffer.concat([Buffer.from(typed), typedKey(key)]);
  return { name, id: hash("sha256", bytes, "hex").slice(0, 2 * ID_BYTES), key };
}

/** The public key as one word, the form in which verifiers are told it: `<name>+<key id>+<base64>`. */
export function vkeyOf({ name, id, key }: Verifier): string {
  return `${name}+${id}+${typedKey(key).toString("base64")}`;
}

/** Reads a verifier from one word, as `vkeyOf` writes it. */
export function parseVkey(text: string): Verifier {
  const [, name = "", id, encoded = ""] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/.exec(text) ?? [];
  const bytes = decodeBase64(encoded);
  if (!bytes || bytes.length !== 1 + KEY_BYTES || bytes[0] !== ED25519) {
    throw new MalformedProof(
      "expected the key as NAME+ID+BASE64 with an Ed25519 key, as the server's verifier answer has it",
    );
  }
  const x = bytes.subarray(1).toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const verifier = verifierOf(name, key);
  if (verifier.id !== id) {
    throw new MalformedProof(`key id ${id}: expected ${verifier.id} for this name and key`);
  }
  return verifier;
}

/** Signs a text, which ends with a line end. */
export function signNote(text: string, signers: readonly Signer[]): string {
  requireText(text);
  const lines = signers.map(({ name, id, privateKey }) => {
    const signature = sign(null, Buffer.from(text), privateKey);
    const encoded = Buffer.concat([Buffer.from(id, "hex"), signature]).toString("base64");
    return `— ${name} ${encoded}\n`;
  });
  return `${text}\n${lines.join("")}`;
}

/** One signature of a note. */
export interface Signature {
  readonly name: string;
  readonly id: string;
  readonly bytes: Buffer;
}

/**
 * Verifies a note. Signatures of other keys are ignored; one of a known key that does not verify fails the note.
 *
 * @param verifiers the known keys
 * @returns the text, and the verifiers whose signatures it has
 * @throws MalformedProof if the text is not a note; UnknownSigner if no known key signed it;
 *   FailedProof if the text is not what a known key signed
 */
export function openNote(
  note: string | Buffer,
  verifiers: readonly Verifier[],
): { readonly text: string; readonly signers: readonly Verifier[] } {
  const { text, signatures } = parseNote(note);
  const signers = verifiers.filter((verifier) => {
    const own = signatures.filter(({ name, id }) => name === verifier.name && id === verifier.id);
    const bytes = Buffer.from(text);
    const isRight = (one: Signature): boolean =>
      one.bytes.length === SIGNATURE_BYTES && verify(null, bytes, verifier.key, one.bytes);
    if (own.every(isRight)) return own.length > 0;
    throw new FailedProof(`the signature of ${verifier.name} is wrong: the text was changed`);
  });
  if (signers.length === 0) {
    const wanted = verifiers.map(({ name, id }) => `${name}+${id}`).join(", ");
    const found = signatures.map(({ name, id }) => `${name}+${id}`).join(", ");
    throw new UnknownSigner(`not signed by ${wanted}, only by ${found}`);
  }
  return { text, signers };
}

/** Whether a note has a signature of a key, right or wrong. */
export function isSignedBy(note: string, { name, id }: Verifier): boolean {
  const { signatures } = parseNote(note);
  return signatures.some((one) => one.name === name && one.id === id);
}

function parseNote(note: string | Buffer): { text: string; signatures: readonly Signature[] } {
  const bytes = Buffer.from(note);
  if (bytes.length > MAX_NOTE_BYTES) throw new MalformedProof("a note is at most 1 MiB long");
  if (!isUtf8(bytes)) throw new MalformedProof("a note is UTF-8");
  const whole = bytes.toString();
  const end = whole.lastIndexOf("\n\n");
  if (end < 0) throw new MalformedProof("a note has an empty line between text and signatures");
  const text = whole.slice(0, end + 1);
  requireText(text);
  const lines = whole.slice(end + 2).split("\n");
  if (lines.pop() !== "") throw new MalformedProof("a note ends with a line end");
  if (lines.length === 0) throw new MalformedProof("a note has at least one signature");
  if (lines.length > MAX_SIGNATURES) {
    throw new MalformedProof(`a note has at most ${MAX_SIGNATURES} signatures`);
  }
  return { text, signatures: lines.map(parseSignature) };
}

/**
 * Reads one signature line of a note.
 *
 * @throws MalformedProof if it is something else
 */
export function parseSignature(line: string): Signature {
  const [, name = "", encoded = ""] = /^— (\S+) (\S+)$/.exec(line) ?? [];
  const bytes = decodeBase64(encoded);
  if (!KEY_NAME.test(name) || !bytes || bytes.length <= ID_BYTES) {
    throw new MalformedProof(`signature line "${line}": expected — NAME BASE64`);
  }
  return {
    name,
    id: bytes.toString("hex", 0, ID_BYTES),
    bytes: bytes.subarray(ID_BYTES),
  };
}

function requireText(text: string): void {
  // oxlint-disable-next-line no-control-regex -- they are what is forbidden
  const isText = text.endsWith("\n") && !/[\0-\x09\x0b-\x1f]/.test(text);
  if (!isText) {
    throw new MalformedProof("a note's text ends with a line end and has no control characters");
  }
}

/** The public key with its type byte in front, of which its ids are hashes. */
export function typedKey(key: KeyObject): Buffer {
  const { x = "" } = key.export({ format: "jwk" });
  return Buffer.concat([Buffer.of(ED25519), Buffer.from(x, "base64url")]);
}
