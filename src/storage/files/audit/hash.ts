/**
 * A 32-bit hash of a text (FNV-1a over its UTF-16 units, with a final mix). It is written into
 * sidecars, so it never changes within a format version. Equal hashes are always followed by a look
 * at the texts themselves.
 */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
