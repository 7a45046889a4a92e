/** The longest beginning of a text that fits into a number of bytes as UTF-8; no character is cut. */
export function firstBytes(text: string, bytes: number): string {
  if (text.length <= bytes / 3) return text; // a code unit takes at most three bytes
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}
