const MAX_TYPOS = 2;

/** The known word that is most similar to a misspelled name; `undefined` if no word is close. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > 40) return undefined;
  const given = name.toLowerCase();
  const [best] = known
    .filter((word) => Math.abs(word.length - given.length) <= MAX_TYPOS) // the others have more typos
    .map((word) => ({ word, typos: distance(given, word) }))
    .sort((a, b) => a.typos - b.typos);
  return best && best.typos <= MAX_TYPOS && best.typos < best.word.length / 2
    ? best.word
    : undefined;
}

/** The Levenshtein distance: the number of letters to insert, remove or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
