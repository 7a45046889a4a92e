import type { Work } from "../../../../core/scheduling/work.ts";

/** The number of texts that are hashed in one part of the work: about 0.1 ms. */
const TEXTS_AT_ONCE = 256;

/**
 * The 32-bit hash of a text, by which sidecars find ids, trace ids and values of fields. It is stored in sidecars,
 * so it never changes within a format version. If hashes are equal, the texts are always compared.
 */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193); // FNV-1a
  }
  // FNV mixes the low bits better than the high ones; this makes every bit depend on every other.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The hashes of some texts. */
export function* hashesOf(texts: readonly string[]): Work<Uint32Array> {
  const hashes = new Uint32Array(texts.length);
  for (const [i, text] of texts.entries()) {
    hashes[i] = hashOf(text);
    if (i % TEXTS_AT_ONCE === 0) yield;
  }
  return hashes;
}
