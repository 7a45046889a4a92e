import fc, { type StringConstraints } from "fast-check";

/** Code points that are halves of a pair. */
const SURROGATES = { first: 0xd800, last: 0xdfff } as const;
const SURROGATE_COUNT = SURROGATES.last - SURROGATES.first + 1;

/** Any code point that is a character by itself, with the way back, which lets fast-check add names like `__proto__`. */
const codePoint = fc.nat(0x10ffff - SURROGATE_COUNT).map(
  (at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATE_COUNT),
  (text) => {
    const code = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (code === undefined || text !== String.fromCodePoint(code)) throw new Error("no code point");
    return code < SURROGATES.first ? code : code - SURROGATE_COUNT;
  },
);

/**
 * Texts of any code points, the same as those of fast-check's unit "binary", which lists all 1.1 million code points
 * in each process before the first text. That takes seconds.
 */
export function anyText(constraints: Omit<StringConstraints, "unit"> = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: codePoint });
}
