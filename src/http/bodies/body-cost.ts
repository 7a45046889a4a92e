/**
 * The cost of an object or a list beyond its text, as bytes of usual text: parsed events take some five times the size of
 * their text. Half a mebibyte of empty objects takes 11 MiB, of objects with the name `"9"` as much, of usual events 2 MiB.
 */
export const CONTAINER_BYTES = 24;
/** More objects and lists are not counted: few bodies of that cost are worked on at a time. */
const MOST_COUNTED = 1 << 16;
const OPENING = [0x7b, 0x5b] as const; // { and [

/** The cost of a parsed body, in bytes of usual text. Brackets within its texts count too. */
export function costOf(pieces: Iterable<Buffer>): number {
  let bytes = 0;
  let containers = 0;
  for (const piece of pieces) {
    bytes += piece.length;
    for (const opening of OPENING) {
      let at = piece.indexOf(opening);
      for (; at !== -1 && containers < MOST_COUNTED; at = piece.indexOf(opening, at + 1)) {
        containers++;
      }
    }
  }
  return bytes + containers * CONTAINER_BYTES;
}
