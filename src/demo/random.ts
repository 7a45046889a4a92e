/** Random numbers that repeat in every run with the same seed. */

/** Draws a number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** Creates a generator (mulberry32): fast, and random enough for sample data; not for secrets. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Picks an element of a list, all with equal probability. */
export function pickOne<T>(list: readonly T[], random: Random): T {
  const picked = list[(random() * list.length) | 0];
  if (picked === undefined) throw new Error("Nothing to pick from");
  return picked;
}

const FOUR_DIGITS = Array.from({ length: 1 << 16 }, (_, i) => i.toString(16).padStart(4, "0"));

/** Draws a number of lower-case hexadecimal digits, a multiple of 4. */
export function hex(length: number, random: Random): string {
  let text = "";
  while (text.length < length) text += FOUR_DIGITS[(random() * FOUR_DIGITS.length) | 0] ?? "";
  return text;
}
