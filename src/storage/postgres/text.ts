/**
 * Encodes texts for PostgreSQL, whose `text` cannot contain U+0000 or an unpaired surrogate. Each such code unit
 * becomes U+FDE0 and four of U+FDD0 to U+FDDF, one for each hexadecimal digit. Ordinary texts do not contain these
 * noncharacters; if a text does, they are encoded in the same way. So every text can be decoded, equal texts stay
 * equal, and a text contains another text exactly if its encoded form contains the other's.
 *
 * JSON does not need this: `JSON.stringify` escapes both kinds.
 */

/** Separates texts that are stored as one text; no encoded text contains it. */
export const SEPARATOR = "\uFDE1";

const MARK = 0xfde0;
const DIGITS = 0xfdd0;

// With the flag `u`, a surrogate in a character class matches only an unpaired one.
const UNSAFE = /[\0\uD800-\uDFFF\uFDD0-\uFDE1]/gu;
const ESCAPED = /\uFDE0[\uFDD0-\uFDDF]{4}/g;

/** Encodes a text for the database. */
export function toText(text: string): string {
  return text.search(UNSAFE) === -1 ? text : text.replace(UNSAFE, escapedUnit);
}

/** Matches the JSON of every text that has to be encoded, and that of texts with other escapes. */
const UNSAFE_IN_JSON = /\\u|[\uFDD0-\uFDE1]/;

/** Whether `toText` changes none of the texts in JSON. It can be `false` for a text that needs no encoding. */
export function isSafeJson(json: string): boolean {
  return !UNSAFE_IN_JSON.test(json);
}

/** Decodes a text from the database. */
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
