/** Orders texts by their code units. Times of one format are then in order. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
