/**
 * Completes keys and values of policies of the schema `signalbox/policy/v1`. It reads lines by their look, as the
 * highlighter does, so that it works while the document is not valid.
 */
import { consumers } from "../../core/decision.ts";
import {
  MATCH_KEYS,
  PATTERN_KEYS,
  ROOT_KEYS,
  RULE_KEYS,
  SCHEMA_NAME,
  TEST_KEYS,
} from "../../policies/document-keys.ts";

/** The words of the service that complete values. */
export interface CatalogWords {
  readonly providers: readonly string[];
  readonly capabilities: readonly string[];
}

/** The words that can stand at the caret. */
export interface Completion {
  /** The offset of the word that a chosen one replaces. */
  readonly from: number;
  readonly words: readonly string[];
}

const MOST_WORDS = 50;
const EFFECTS = ["allow", "deny"];
/** Keys with a block below them; a space behind their colon would be in the way. */
const CONTAINERS = new Set(["rules", "tests", "match", "except", "commands", "metadata"]);

/** The keys below a key; `undefined` is the root. */
const KEYS: ReadonlyMap<string | undefined, readonly string[]> = new Map<
  string | undefined,
  readonly string[]
>([
  [undefined, ROOT_KEYS],
  ["rules", RULE_KEYS],
  ["match", MATCH_KEYS],
  ["except", MATCH_KEYS],
  ["commands", PATTERN_KEYS],
  ["tests", TEST_KEYS],
]);

/** Finds what completes the word before the caret; `undefined` where nothing does. */
export function completionAt(
  text: string,
  caret: number,
  catalog: CatalogWords,
): Completion | undefined {
  const lines = text.slice(0, caret).split("\n");
  const line = lines.pop() ?? "";
  if (/(?:^|\s)#/.test(line)) return undefined;
  const [word = ""] = /[\w./*-]*$/.exec(line) ?? [];
  const before = line.slice(0, line.length - word.length);
  const key = valueKey(before, lines);
  const words =
    key === undefined ? keysAt(before, lines) : valuesOf(key.name, text, catalog, key.isBegun);
  const found = matching(words ?? [], word);
  return found.length === 0 ? undefined : { from: caret - word.length, words: found };
}

/** The key whose value stands behind a text; `undefined` where a key stands. */
function valueKey(
  before: string,
  above: readonly string[],
): { readonly name: string; readonly isBegun: boolean } | undefined {
  const [, name, list, scalar = ""] =
    /(?:^|[\s{,])([a-z]+):\s+(?:\[([^[\]{}]*)|([^[\]{},]*))$/.exec(before) ?? [];
  if (name !== undefined) {
    const isBegun = list === undefined ? /^["']?$/.test(scalar) : /(?:^|,)\s*["']?$/.test(list);
    return { name, isBegun };
  }
  const [, indent] = /^(\s*)-\s+["']?$/.exec(before) ?? [];
  if (indent === undefined) return undefined;
  const parent = parentOf(above, indent.length, true);
  return parent === undefined || KEYS.has(parent) ? undefined : { name: parent, isBegun: true };
}

function keysAt(before: string, above: readonly string[]): readonly string[] | undefined {
  const [, opened] = /^(.*)\{[^{}]*$/.exec(before) ?? [];
  if (opened !== undefined) {
    if (!/[{,]\s*$/.test(before)) return undefined;
    const [, name] = /([a-z]+):\s*\[?(?:[^[\]]*,)?\s*$/.exec(opened) ?? [];
    const [indent = ""] = /^\s*/.exec(before) ?? [];
    return withColons(KEYS.get(name ?? parentOf(above, indent.length, true)), " ");
  }
  if (!/^\s*(?:-\s+)*$/.test(before)) return undefined;
  return withColons(KEYS.get(parentOf(above, before.length, false)));
}

/** The nearest key above that is further left; `undefined` for the root. */
function parentOf(above: readonly string[], column: number, isItem: boolean): string | undefined {
  if (column === 0 && !isItem) return undefined;
  for (const line of above.toReversed()) {
    const [, indent = "", dashes = "", name] = /^(\s*)((?:-\s+)*)([\w-]+):/.exec(line) ?? [];
    if (name === undefined) continue;
    const at = indent.length + dashes.length;
    // The entries of a list may stand as far left as the list's key.
    if (at < column || (isItem && at === column && dashes === "")) return name;
  }
  return undefined;
}

function withColons(keys: readonly string[] | undefined, space?: string) {
  return keys?.map((key) => `${key}:${space ?? (CONTAINERS.has(key) ? "" : " ")}`);
}

function valuesOf(
  key: string,
  text: string,
  { providers, capabilities }: CatalogWords,
  isBegun: boolean,
): readonly string[] | undefined {
  if (!isBegun) return undefined;
  switch (key) {
    case "schema":
      return [SCHEMA_NAME];
    case "effect":
    case "default":
    case "expect":
      return EFFECTS;
    case "mode":
      return ["enforce", "observe"];
    case "enabled":
      return ["true", "false"];
    case "consumer":
    case "consumers":
      return consumers;
    case "provider":
    case "providers":
      return providers;
    case "capability":
    case "capabilities":
      return capabilities;
    case "rule":
      return [...text.matchAll(/(?:^|[\s{-])id:\s+["']?([\w./-]+)/g)].map(([, id = ""]) => id);
    default:
      return undefined;
  }
}

/** The words that a part of a word is the beginning of, and then those that contain it. */
function matching(words: readonly string[], part: string): readonly string[] {
  const begun = words.filter((word) => word.startsWith(part));
  // One letter is in most words.
  const others = part.length > 1 ? words.filter((word) => word.includes(part)) : [];
  const found = [...new Set([...begun, ...others])].slice(0, MOST_WORDS);
  return found.length === 1 && found[0]?.trimEnd() === part ? [] : found;
}
