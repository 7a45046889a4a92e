/** A number of things in words, such as `1 event` or `2 events`. */
export function quantity(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
