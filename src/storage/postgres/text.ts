/**
 * How texts are kept in PostgreSQL, whose `text` holds neither U+0000 nor a lone surrogate. Each such code
 * unit becomes U+FDE0 and four of U+FDD0 to U+FDDF, one for each hexadecimal digit. Those are noncharacters,
 * which no honest text holds; where a text does hold one, it is written in the same way. So every text comes
 * back as it was given, equal texts stay equal, and a text contains another exactly if their forms do.
 *
 * JSON needs none of this: `JSON.stringify` escapes both kinds.
 */

/** Parts texts that are kept as one; no form holds it. */
export const SEPARATOR = "\uFDE1";

const MARK = 0xfde0;
const DIGITS = 0xfdd0;

// With the flag `u` a surrogate in a class matches only where it stands alone.
const UNSAFE = /[\0\uD800-\uDFFF\uFDD0-\uFDE1]/gu;
const ESCAPED = /\uFDE0[\uFDD0-\uFDDF]{4}/g;

/** The form in which a text is sent to the database. */
export function toText(text: string): string {
  return text.search(UNSAFE) === -1 ? text : text.replace(UNSAFE, escapedUnit);
}

/** The text that a form stands for. */
export function fromText(form: string): string {
  return form.includes("\uFDE0") ? form.replace(ESCAPED, unitOf) : form;
}

function escapedUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  const digits = [12, 8, 4, 0].map((shift) => DIGITS + ((code >> shift) & 15));
  return String.fromCharCode(MARK, ...digits);
}

function unitOf(escaped: string): string {
  const digits = [1, 2, 3, 4].map((place) => escaped.charCodeAt(place) - DIGITS);
  return String.fromCharCode(digits.reduce((code, digit) => code * 16 + digit, 0));
}
