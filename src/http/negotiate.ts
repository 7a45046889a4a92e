/**
 * Proactive content negotiation (RFC 9110 §12.5.1) between the two representations of the front page. The
 * field is read in one pass, which takes linear time. An element that breaks the grammar is skipped, and the
 * others still count.
 */

import { isTooLong } from "./field-length.ts";

/** One `Accept` element: a media range, its parameters, and its weight. */
interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly q: number;
}

/** The weight and the precedence of the most specific range that matches a representation. */
interface Fit {
  readonly q: number;
  readonly specificity: number;
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const WEIGHT = /^(?:0?\.\d{1,32}|[01]|0\.|1\.0{0,32})$/;
const NO_FIT: Fit = { q: 0, specificity: -1 };

/**
 * Whether a request prefers HTML to JSON: by a higher weight, or by an equal non-zero weight from a
 * range that names HTML more specifically. The default is JSON, even if there is no `Accept` field,
 * if it is too long, or if neither is acceptable.
 */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined || isTooLong(accept)) return false;
  const ranges = splitOutsideQuotes(accept, ",").flatMap((element) => parseRange(element) ?? []);
  const html = fitOf(ranges, "text", "html");
  const json = fitOf(ranges, "application", "json");
  if (html.q !== json.q) return html.q > json.q;
  return html.q > 0 && html.specificity > json.specificity;
}

/** Finds the most specific range that matches a type. Of equally specific ranges the highest weight counts. */
function fitOf(ranges: readonly MediaRange[], type: string, subtype: string): Fit {
  let best = NO_FIT;
  for (const range of ranges) {
    const specificity = specificityOf(range, type, subtype);
    if (specificity < 0 || specificity < best.specificity) continue;
    if (specificity > best.specificity || range.q > best.q) best = { q: range.q, specificity };
  }
  return best;
}

/** How specifically a range matches a type that we send with `charset=utf-8`; -1 if it does not match. */
function specificityOf(range: MediaRange, type: string, subtype: string): number {
  if (range.type === "*") return range.subtype === "*" && range.parameters.size === 0 ? 0 : -1;
  if (range.type !== type) return -1;
  for (const [name, value] of range.parameters) {
    if (name !== "charset" || value.toLowerCase() !== "utf-8") return -1;
  }
  if (range.subtype === "*") return range.parameters.size === 0 ? 1 : -1;
  return range.subtype === subtype ? 2 + range.parameters.size : -1;
}

function parseRange(element: string): MediaRange | undefined {
  const [essence = "", ...rest] = splitOutsideQuotes(element, ";");
  const [type = "", subtype = "", ...more] = essence.trim().toLowerCase().split("/");
  // Old Java clients send a lone `*` for `*/*`.
  if (type === "*" && subtype === "" && more.length === 0) return withParameters("*", "*", rest);
  if (!TOKEN.test(type) || !TOKEN.test(subtype) || more.length > 0) return undefined;
  return withParameters(type, subtype, rest);
}

/** Parameters before `q` belong to the media range. Those after it are extensions, of which RFC 9110 defines none. */
function withParameters(
  type: string,
  subtype: string,
  pairs: readonly string[],
): MediaRange | undefined {
  const parameters = new Map<string, string>();
  for (const pair of pairs) {
    if (pair.trim() === "") continue;
    const equals = pair.indexOf("=");
    const name = pair.slice(0, equals).trim().toLowerCase();
    const value = pair.slice(equals + 1).trim();
    if (equals === -1 || !TOKEN.test(name)) return undefined;
    if (name === "q") {
      return WEIGHT.test(value) ? { type, subtype, parameters, q: Number(value) } : undefined;
    }
    const content = value.startsWith('"') ? unquote(value) : TOKEN.test(value) ? value : undefined;
    if (content === undefined) return undefined;
    parameters.set(name, content);
  }
  return { type, subtype, parameters, q: 1 };
}

/** Reads a quoted string (RFC 9110 §5.6.4); `undefined` if the text does not end with its closing quote. */
function unquote(value: string): string | undefined {
  let content = "";
  for (let i = 1; i < value.length; i++) {
    if (value[i] === '"') return i === value.length - 1 ? content : undefined;
    if (value[i] === "\\") i++;
    content += value[i] ?? "";
  }
  return undefined;
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (isQuoted && char === "\\") i++;
    else if (char === '"') isQuoted = !isQuoted;
    else if (char === separator && !isQuoted) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}
