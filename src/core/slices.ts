/** Cuts a text into parts of a length; both halves of a character outside the basic plane stay together. */
export function* slicesOf(text: string, length: number): Generator<string> {
  for (let start = 0, end: number; start < text.length; start = end) {
    end = start + length;
    const isHalf = (text.codePointAt(end - 1) ?? 0) > 0xffff;
    if (isHalf) end++;
    yield text.slice(start, end);
  }
}
