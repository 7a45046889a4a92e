/** The keywords at which rules are tried. */
import { lowerCase, type NameEndings } from "./names.ts";
import type { ProgramRule } from "./programs.ts";
import type { RedactionRule } from "./shapes.ts";

/** The end of a program's name: `.exe` is not part of it, and quotes may be around it, as in a list. */
const NAME_ENDS = /(?:\.exe)?(?:\s|["'](?:[ \t]|\s{0,4},))/iy;

/** A keyword and its rule. The keyword with no rule is the mark of redacted secrets, which are skipped. */
export interface Entry {
  readonly keyword: string;
  readonly rule?: RedactionRule;
  readonly program?: ProgramRule;
  /** Whether the text after the name of the program, at a position, may have an option with a secret. */
  readonly hint?: (text: string, place: number) => boolean;
}

/** The low five bits of a character: the same for both cases of a letter. */
const BITS = 0x1f;
/** The number of groups of three letters. */
const GROUPS = 1 << 15;

/** The group of three letters that ends with a character, from the group before it. */
export function nextGroup(group: number, code: number): number {
  return ((group << 5) | (code & BITS)) & (GROUPS - 1);
}

/**
 * Finds the keywords that may begin with some letters. Most texts of events are read without leaving the cache of a
 * processor.
 */
export class Keywords {
  /** A bit for each group of three letters, set if it begins a keyword. */
  readonly #begins = new Uint8Array(GROUPS / 8);
  /** The index of each such group. */
  readonly #indexes = new Uint16Array(GROUPS);
  /** By index, a bit for each letter that may follow the group. */
  readonly #fourth: Uint32Array;
  /** By index. */
  readonly #entries: Entry[][] = [];

  constructor(entries: readonly Entry[]) {
    this.#fourth = new Uint32Array(entries.length);
    for (const entry of entries) this.#add(entry);
  }

  /** The keywords that may begin with a group of three letters and the letter at `next`. */
  from(group: number, text: string, next: number): readonly Entry[] | undefined {
    if (((this.#begins[group >> 3] as number) & (1 << (group & 7))) === 0) return undefined;
    const index = this.#indexes[group] as number;
    const follows = (this.#fourth[index] as number) >>> (text.charCodeAt(next) & BITS);
    return (follows & 1) === 0 ? undefined : this.#entries[index];
  }

  #add(entry: Entry): void {
    const codes = Array.from(entry.keyword, (char) => char.charCodeAt(0));
    const group = codes.slice(0, 3).reduce(nextGroup, 0);
    const isNew = ((this.#begins[group >> 3] as number) & (1 << (group & 7))) === 0;
    if (isNew) this.#indexes[group] = this.#entries.push([]) - 1;
    this.#begins[group >> 3] = (this.#begins[group >> 3] as number) | (1 << (group & 7));
    const index = this.#indexes[group] as number;
    const entries = this.#entries[index] as Entry[];
    // One entry is enough for all endings of names: `NameEndings` looks for all of them.
    const isKnown =
      entry.rule?.isEnding === true && entries.some(({ rule }) => rule === entry.rule);
    if (!isKnown) entries.push(entry);
    const [, , , fourth] = codes;
    const follows = fourth === undefined ? 0xffff_ffff : 1 << (fourth & BITS);
    this.#fourth[index] = (this.#fourth[index] as number) | follows;
  }
}

/** Whether a keyword is at a position, in any letter case. The name of a program must be a whole word. */
export function standsAt(names: NameEndings, entry: Entry, place: number): boolean {
  const { keyword, program, rule } = entry;
  if (rule?.isEnding === true) return names.hasAt(place);
  const { text } = names;
  // Compared from the end: the first three letters are already known to match.
  for (let i = keyword.length - 1; i >= 0; i--) {
    if (lowerCase(text.charCodeAt(place + i)) !== keyword.charCodeAt(i)) return false;
  }
  if (program === undefined) return true;
  if (place > 0 && /[\w.:-]/.test(text[place - 1] ?? "")) return false;
  NAME_ENDS.lastIndex = place + keyword.trimEnd().length;
  return NAME_ENDS.test(text);
}
