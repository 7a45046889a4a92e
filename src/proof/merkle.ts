/**
 * The Merkle tree of RFC 6962 §2.1 over SHA-256, and the verification of inclusion proofs by the algorithm of
 * RFC 9162 §2.1.3.2. Sizes and indexes are numbers up to 2^53, so that no operation here is
 * one of 32 bits.
 */
import { hash } from "node:crypto";

/** The length of a hash. */
export const HASH_BYTES = 32;

const LEAF = 0x00;
const NODE = 0x01;

/** The root of the tree without leaves. */
export const EMPTY_ROOT: Buffer = sha256("");

// Inputs of the hash function, kept because allocating them would cost as much as hashing them. They are
// filled and used within one call.
const leafInput = Buffer.alloc(1 + HASH_BYTES, LEAF);
const nodeInput = Buffer.alloc(1 + 2 * HASH_BYTES, NODE);

/** The leaf of a stored line: the hash of its SHA-256, so that a leaf's input is short however long the line is. */
export function leafHash(line: Uint8Array | string): Buffer {
  const leaf = Buffer.allocUnsafe(HASH_BYTES);
  writeLeafHash(line, leaf, 0);
  return leaf;
}

/** Writes the leaf of a stored line at a place of a buffer. A string is hashed as UTF-8. */
export function writeLeafHash(line: Uint8Array | string, into: Uint8Array, at: number): void {
  writeHash(line, leafInput, 1);
  writeHash(leafInput, into, at);
}

/** The hash of an inner node. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_BYTES);
  return sha256(nodeInput);
}

/**
 * Replaces the first of two nodes by their hash.
 *
 * @param pair the nodes, after a byte that is changed only during the call: so they need not be copied to be hashed
 */
export function joinNodes(pair: Uint8Array): void {
  const before = pair[0] as number;
  pair[0] = NODE;
  writeHash(pair, pair, 1);
  pair[0] = before;
}

/** Writes the SHA-256 of some bytes, or of a text as UTF-8, at a place of a buffer. */
function writeHash(input: Uint8Array | string, into: Uint8Array, at: number): void {
  // As a string of one character for each byte: twice as fast as a new Buffer for each hash.
  const found = hash("sha256", input, "binary");
  // Also faster than a method of Buffer, for so few bytes.
  for (let i = 0; i < HASH_BYTES; i++) into[at + i] = found.charCodeAt(i);
}

const scratch = Buffer.alloc(256 * HASH_BYTES);

/** The root over 2^n hashes, at most 256 of them, that follow each other in a tile. */
export function perfectRoot(hashes: Uint8Array, from: number, count: number): Buffer {
  scratch.set(hashes.subarray(from * HASH_BYTES, (from + count) * HASH_BYTES));
  for (let width = count / 2; width >= 1; width /= 2) {
    for (let i = 0; i < width; i++) {
      const pair = i * 2 * HASH_BYTES;
      scratch.copy(nodeInput, 1, pair, pair + 2 * HASH_BYTES);
      writeHash(nodeInput, scratch, i * HASH_BYTES);
    }
  }
  return Buffer.from(scratch.subarray(0, HASH_BYTES));
}

/**
 * Whether a proof shows that the leaf with this index is part of the tree with this size and root.
 *
 * @param proof the hashes from the leaf's sibling to the root's child; too few or too many are refused
 */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!isSize(index) || !isSize(size) || index >= size || !areHashes([leaf, root, ...proof])) {
    return false;
  }
  let [at, last] = [index, size - 1];
  let found: Uint8Array = leaf;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      found = nodeHash(sibling, found);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else {
      found = nodeHash(found, sibling);
    }
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && Buffer.compare(found, root) === 0;
}

/** Whether a number can be a size or an index of a tree. */
export function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function areHashes(values: readonly Uint8Array[]): boolean {
  return values.every(({ length }) => length === HASH_BYTES);
}

/** The SHA-256 of some bytes, or of a text as UTF-8. */
export function sha256(input: Uint8Array | string): Buffer {
  return Buffer.from(hash("sha256", input, "binary"), "binary");
}
