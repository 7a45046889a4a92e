import type { Yielder } from "../../../../core/scheduling/yielder.ts";

/** The entries with the greatest numbers, the greatest first, of equal ones by key. */
export async function greatest<Key extends string | number>(
  entries: Iterable<readonly [Key, number]>,
  most: number,
  yielder: Yielder,
): Promise<(readonly [Key, number])[]> {
  const chosen: (readonly [Key, number])[] = [];
  const cut = (): void => {
    chosen.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    chosen.length = Math.min(chosen.length, most);
  };
  let least = -Infinity;
  for (const entry of entries) {
    if (entry[1] < least || chosen.push(entry) < 2 * most) continue;
    cut();
    least = chosen[most - 1]?.[1] ?? least;
    await yielder.step();
  }
  cut();
  return chosen;
}
