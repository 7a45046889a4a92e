/** The part in which two lines differ: the lengths of the common text before it and after it. */
export interface ChangedPart {
  readonly before: number;
  readonly after: number;
}

const LONGEST = 2_000;
const WORDS = /[\p{L}\p{N}_]+|\s+|./gsu;

/**
 * Finds the words in which two lines differ: everything between the first and the last different word.
 * `undefined` for lines that share nothing but white space, and for very long ones.
 */
export function changedPart(left: string, right: string): ChangedPart | undefined {
  if (left.length > LONGEST || right.length > LONGEST) return undefined;
  const [a, b] = [left.match(WORDS) ?? [], right.match(WORDS) ?? []];
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [before, after] = [a.slice(0, head).join(""), a.slice(a.length - tail).join("")];
  if ((before + after).trim() === "") return undefined;
  return { before: before.length, after: after.length };
}
