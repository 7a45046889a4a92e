/** Random choices that the load generators share, over the random numbers of the demo. */
import type { Random } from "../src/demo/random.ts";

const SLOTS = 1 << 15;

/**
 * Creates a picker of the indexes 0 to `count - 1` that follows Zipf's law: the second is drawn
 * half as often as the first, the third a third as often. Each pick is one look-up in a table.
 */
export function zipf(count: number, random: Random): () => number {
  const table = new Uint16Array(SLOTS);
  let total = 0;
  for (let rank = 1; rank <= count; rank++) total += 1 / rank;
  let filled = 0;
  let reached = 0;
  for (let rank = 1; rank <= count; rank++) {
    reached += 1 / rank;
    const end = rank === count ? SLOTS : Math.round((reached / total) * SLOTS);
    table.fill(rank - 1, filled, end);
    filled = Math.max(filled, end);
  }
  return () => table[(random() * SLOTS) | 0] ?? 0;
}

/** The list in random order. */
export function shuffled<T>(list: readonly T[], random: Random): readonly T[] {
  return list
    .map((value) => ({ value, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}
