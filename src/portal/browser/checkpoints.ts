/**
 * Checks signed checkpoints of C2SP tlog-checkpoint and consistency proofs of RFC 6962 with the cryptography of the
 * browser. `src/proof` does the same with Node's, in one turn of the event loop.
 */

const ED25519 = 0x01;
const HASH_BYTES = 32;
/** The key id in front of a signature. */
const ID_BYTES = 4;

/** The state of a log that a note states. */
export interface Checkpoint {
  /** The name of the log. */
  readonly origin: string;
  readonly size: number;
  /** In Base64. */
  readonly root: string;
}

/** Whether a key signed a note; `unknown` if this browser does not know the kind of signature. */
export type Signed = "yes" | "no" | "unknown";

/** Reads the checkpoint of a note; `undefined` for another text. */
export function checkpointIn(note: string): Checkpoint | undefined {
  const [, origin = "", digits, root = ""] =
    /^(\S+)\n(0|[1-9]\d{0,15})\n([\w+/]{43}=)\n/.exec(note) ?? [];
  const size = Number(digits);
  return Number.isSafeInteger(size) ? { origin, size, root } : undefined;
}

/**
 * Whether a key signed the note of a checkpoint under the name of its log.
 *
 * @param key in Base64, as the last part of the public key that the service answers
 */
export async function isSignedBy(note: string, key: string): Promise<Signed> {
  const end = note.lastIndexOf("\n\n") + 1;
  const typed = bytesOf(key);
  if (end === 0 || typed?.length !== 1 + HASH_BYTES || typed[0] !== ED25519) return "no";
  const prefix = `— ${note.slice(0, note.indexOf("\n"))} `;
  const lines = note.slice(end + 1).split("\n");
  const own = lines.filter((line) => line.startsWith(prefix));
  const text = new TextEncoder().encode(note.slice(0, end));
  try {
    const { subtle } = crypto;
    const imported = await subtle.importKey("raw", typed.slice(1), "Ed25519", false, ["verify"]);
    for (const line of own) {
      const signature = bytesOf(line.slice(prefix.length))?.slice(ID_BYTES) ?? new Uint8Array();
      if (await subtle.verify("Ed25519", imported, signature, text)) return "yes";
    }
    return "no";
  } catch {
    return "unknown";
  }
}

/**
 * Whether a proof shows that the tree of the second checkpoint begins with the leaves of the first, by the algorithm
 * of RFC 9162 §2.1.4.2.
 *
 * @param proof hashes in Base64
 */
export async function continues(
  from: Checkpoint,
  to: Checkpoint,
  proof: readonly string[],
): Promise<boolean> {
  if (from.size > to.size) return false;
  if (from.size === to.size) return from.root === to.root;
  if (from.size === 0) return true;
  const [fromRoot, toRoot] = [bytesOf(from.root), bytesOf(to.root)];
  const hashes = proof.map(bytesOf);
  let [at, last] = [from.size - 1, to.size - 1];
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  // A first tree of 2^n leaves is a node of the second: its root begins the path, and is not sent.
  const [seed, ...siblings] = at === 0 ? [fromRoot, ...hashes] : hashes;
  if (seed === undefined || fromRoot === undefined || toRoot === undefined) return false;
  let [first, second] = [seed, seed];
  for (const sibling of siblings) {
    if (last === 0 || sibling?.length !== HASH_BYTES) return false;
    if (at % 2 === 1 || at === last) {
      first = await nodeHash(sibling, first);
      second = await nodeHash(sibling, second);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else second = await nodeHash(second, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && areEqual(first, fromRoot) && areEqual(second, toRoot);
}

type Bytes = Uint8Array<ArrayBuffer>;

async function nodeHash(left: Bytes, right: Bytes): Promise<Bytes> {
  const input = new Uint8Array(1 + 2 * HASH_BYTES);
  input[0] = 0x01;
  input.set(left, 1);
  input.set(right, 1 + HASH_BYTES);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", input));
}

function areEqual(one: Bytes, other: Bytes): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

function bytesOf(base64: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
