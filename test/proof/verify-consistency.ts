/** Verifies consistency proofs by the algorithm of RFC 9162 §2.1.4.2, as the keepers of checkpoints do. */
import { EMPTY_ROOT, HASH_BYTES, isSize, nodeHash } from "../../src/proof/merkle.ts";

/**
 * Whether a proof shows that the tree with the second size and root begins with the leaves of the first.
 * Every tree begins with the empty one.
 */
export function verifyConsistency(
  from: number,
  to: number,
  proof: readonly Uint8Array[],
  fromRoot: Uint8Array,
  toRoot: Uint8Array,
): boolean {
  if (!isSize(from) || !isSize(to) || from > to || ![fromRoot, toRoot, ...proof].every(isHash)) {
    return false;
  }
  if (from === 0) return proof.length === 0 && Buffer.compare(fromRoot, EMPTY_ROOT) === 0;
  if (from === to) return proof.length === 0 && Buffer.compare(fromRoot, toRoot) === 0;
  let [at, last] = [from - 1, to - 1];
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  // A first tree of 2^n leaves is a node of the second: its root begins the path, and is not sent.
  const path = at === 0 ? [fromRoot, ...proof] : proof;
  const [seed, ...siblings] = path;
  if (seed === undefined) return false;
  let [first, second] = [seed, seed];
  for (const sibling of siblings) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      first = nodeHash(sibling, first);
      second = nodeHash(sibling, second);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else {
      second = nodeHash(second, sibling);
    }
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  const isFirst = Buffer.compare(first, fromRoot) === 0;
  return last === 0 && isFirst && Buffer.compare(second, toRoot) === 0;
}

function isHash({ length }: Uint8Array): boolean {
  return length === HASH_BYTES;
}
