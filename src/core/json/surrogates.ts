/** Unpaired surrogates in JSON: texts with them are not Unicode, and change when they are stored as UTF-8. */
import { BadInput } from "../errors.ts";
import { describeFault } from "./json-fault.ts";
import { BACKSLASH, LETTER_U } from "./json-tokens.ts";
import { pathOf } from "../validate.ts";
import type { Work } from "../scheduling/work.ts";

const LONE_SURROGATE = /\p{Cs}/u;
const SEARCH_BYTES = 64 << 10;

/** The reason for refusing a text or name with an unpaired surrogate. */
export const LONE_SURROGATE_FAULT = "expected Unicode text, found an unpaired surrogate";

/** Whether a text has an escape by code. Searches in parts: among other escapes, `includes` takes 8 ms for a mebibyte. */
export function* hasUnicodeEscape(bytes: Buffer): Work<boolean> {
  for (let at = 0; at < bytes.length; at += SEARCH_BYTES, yield) {
    if (bytes.subarray(at, at + SEARCH_BYTES + 1).includes("\\u")) return true;
  }
  return false;
}

/**
 * Finds the escaped unpaired surrogates in the bytes of a JSON text, and calls `found` with their positions.
 * It works on the text before it is parsed, so that the values need not be walked.
 *
 * @param to the end of the search; an escape that begins before it is handled whole
 * @returns the position at which to continue
 */
function scanSurrogates(
  bytes: Uint8Array,
  found: (at: number) => void,
  from: number,
  to: number,
): number {
  let at = from;
  for (; at < to; at++) {
    if (bytes[at] !== BACKSLASH) continue;
    const unit = unitAt(bytes, at);
    if (isLow(unit)) found(at);
    else if (isHigh(unit)) {
      if (isLow(unitAt(bytes, at + 6))) at += 6;
      else found(at);
    }
    at++; // the escaped character may be a backslash
  }
  return at;
}

/** Replaces, in place, each escaped unpaired surrogate by an escaped U+FFFD, which it would become in UTF-8. */
export function mendSurrogates(bytes: Uint8Array, from = 0, to = bytes.length): number {
  return scanSurrogates(bytes, (at) => replaceUnit(bytes, at), from, to);
}

/** Throws BadInput for the first escaped unpaired surrogate, with its line and column. Does not change the bytes. */
export function refuseSurrogates(bytes: Uint8Array, from: number, to: number): number {
  const refuse = (at: number): never => {
    throw new BadInput(`The body, ${describeFault(bytes, at, LONE_SURROGATE_FAULT)}`);
  };
  return scanSurrogates(bytes, refuse, from, to);
}

/** The place of a text or name with an unpaired surrogate in a parsed value; `undefined` if there is none. */
export function findLoneSurrogate(value: unknown): string | undefined {
  const path = pathToLoneSurrogate(value);
  const join = (place: string, step: string | number): string =>
    typeof step === "number" ? `${place}[${step}]` : pathOf(place, step);
  return path && (path.reduce(join, "") || "The body");
}

/** The names and indexes on the path to the surrogate. Building a path for each value would cost more than parsing. */
function pathToLoneSurrogate(value: unknown): readonly (string | number)[] | undefined {
  if (typeof value === "string") return LONE_SURROGATE.test(value) ? [] : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const path = pathToLoneSurrogate(value[index]);
      if (path) return [index, ...path];
    }
    return undefined;
  }
  for (const name of Object.keys(value)) {
    if (LONE_SURROGATE.test(name)) return [];
    const path = pathToLoneSurrogate((value as Readonly<Record<string, unknown>>)[name]);
    if (path) return [name, ...path];
  }
  return undefined;
}

/** Replaces the escape at a position by that of U+FFFD. */
function replaceUnit(bytes: Uint8Array, at: number): void {
  bytes[at + 2] = bytes[at + 3] = bytes[at + 4] = 0x66;
  bytes[at + 5] = 0x64;
}

/** The code unit of an escape `\\uXXXX`; -1 for any other text. */
function unitAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== LETTER_U) return -1;
  let unit = 0;
  for (let i = at + 2; i < at + 6; i++) unit = unit * 16 + hexDigit(bytes[i] ?? 0);
  return unit;
}

/** The value of a hexadecimal digit; NaN for any other character. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
