/**
 * Takes secrets out of texts before they are stored, streamed or spooled. One pass over the characters looks for the
 * groups of three letters with which keywords begin; only where a keyword stands is a pattern tried. So a text without
 * keywords costs about a nanosecond a character, and every text takes time in proportion to its length.
 */
import { type Work, finish } from "../../core/work.ts";
import { REDACTED_FIELDS } from "../event-fields.ts";
import { secretsOfProgram, type Span } from "./program-options.ts";
import { PROGRAM_RULES, type ProgramRule } from "./programs.ts";
import { REDACTION_RULES } from "./rules.ts";
import { CHARACTERS, type Groups, type RedactionRule, SECRETS } from "./shapes.ts";
import { MARK } from "./values.ts";

/** How often a rule has replaced a secret. */
export interface Redaction {
  readonly rule: string;
  readonly count: number;
}

/** A text without its secrets. */
export interface Redacted {
  readonly text: string;
  /** In the order of the first secret of each rule. */
  readonly redactions: readonly Redaction[];
}

type RedactedField = (typeof REDACTED_FIELDS)[number];
type Texts = { readonly [F in RedactedField]?: unknown };

/** Five bits of a character, alike for both cases of a letter. */
const BITS = 0x1f;
const TABLE_BITS = 0x7fff;
/** The characters that are read between two turns of long work: less than a millisecond even of a hostile text. */
const PART_LENGTH = 512;
/** The options of programs are looked for in texts up to this length before their words are read. */
const LOOKED_THROUGH = 2048;
/** Later secrets of a text become `*`, so that a text cannot grow without bound. */
const MOST_MARKS = 1000;
const WHOLE_MARK = /\[redacted:[\w-]{1,40}\]/y;
const CONTINUED = new Map(
  Object.entries(CHARACTERS).map(([group, chars]) => [group, new RegExp(`${chars}{1,4096}`, "y")]),
);

/** A rule under one of its keywords. */
interface Entry {
  readonly keyword: string;
  readonly rule?: RedactionRule;
  readonly program?: ProgramRule;
}

/** Replaces secrets by `[redacted:<rule>]`. */
export class Redactor {
  readonly #beginnings = new Uint8Array(TABLE_BITS + 1);
  readonly #entries = new Map<number, Entry[]>();

  constructor(rules: readonly RedactionRule[], programs: readonly ProgramRule[] = PROGRAM_RULES) {
    this.#add({ keyword: MARK });
    for (const rule of rules) for (const keyword of rule.keywords) this.#add({ keyword, rule });
    for (const program of programs) {
      for (const name of program.programs) this.#add({ keyword: name.padEnd(3), program });
    }
  }

  /** Whether a rule may apply to a text; false for most texts without secrets. */
  mayApply(text: string): boolean {
    const beginnings = this.#beginnings;
    let group = 0;
    for (let at = 0; at < text.length; at++) {
      group = ((group << 5) | (text.charCodeAt(at) & BITS)) & TABLE_BITS;
      if (beginnings[group] === 1 && this.#mayApplyAt(text, at - 2, group)) return true;
    }
    return false;
  }

  /** Replaces the secrets of a text. */
  redact(text: string): Redacted {
    return this.mayApply(text) ? finish(this.redactInParts(text)) : { text, redactions: [] };
  }

  /** Replaces the secrets of a text that may be long. */
  *redactInParts(text: string): Work<Redacted> {
    const scan = new Scan(text);
    let group = 0;
    let pause = PART_LENGTH;
    for (let at = 0; at < text.length; at++) {
      if (at >= pause) {
        yield;
        pause = at + PART_LENGTH;
      }
      group = ((group << 5) | (text.charCodeAt(at) & BITS)) & TABLE_BITS;
      if (this.#beginnings[group] === 0) continue;
      const next = this.#try(scan, at - 2, group);
      if (next === undefined) continue;
      at = next - 1;
      group = 0;
    }
    return scan.result();
  }

  /**
   * An event without the secrets in its texts; the same object if it has none.
   *
   * @param count takes each rule that replaced a secret
   */
  redactEvent<Event extends Texts>(event: Event, count?: (redaction: Redaction) => void): Event {
    let result = event;
    for (const field of REDACTED_FIELDS) {
      const value = event[field];
      if (typeof value !== "string") continue;
      const { text, redactions } = this.redact(value);
      if (redactions.length === 0) continue;
      result = { ...result, [field]: text };
      if (count) redactions.forEach(count);
    }
    return result;
  }

  #mayApplyAt(text: string, place: number, group: number): boolean {
    for (const entry of this.#entries.get(group) ?? []) {
      if (!standsAt(text, entry, place)) continue;
      const { rule, program } = entry;
      if (program && (text.length > LOOKED_THROUGH || hasOption(text, program, place))) return true;
      if (rule === undefined) continue;
      rule.pattern.lastIndex = place;
      if (rule.pattern.test(text)) return true;
    }
    return false;
  }

  #add(entry: Entry): void {
    let group = 0;
    for (const char of entry.keyword.slice(0, 3))
      group = (group << 5) | (char.charCodeAt(0) & BITS);
    this.#beginnings[group] = 1;
    const others = this.#entries.get(group);
    if (others) others.push(entry);
    else this.#entries.set(group, [entry]);
  }

  /** Tries the rules whose keyword stands at a place. Returns the place behind a replaced secret. */
  #try(scan: Scan, place: number, group: number): number | undefined {
    for (const entry of this.#entries.get(group) ?? []) {
      if (!standsAt(scan.text, entry, place)) continue;
      const { keyword, rule, program } = entry;
      if (program) scan.readProgram(program, place, place + keyword.trimEnd().length);
      const next = program ? undefined : rule ? scan.apply(rule, place) : scan.skipMark(place);
      if (next !== undefined) return next;
    }
    return undefined;
  }
}

/** Whether a keyword stands at a place, in any letter case; the name of a program as a word of its own. */
function standsAt(text: string, { keyword, program }: Entry, place: number): boolean {
  for (let i = 0; i < keyword.length; i++) {
    const code = text.charCodeAt(place + i);
    const lower = code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
    if (lower !== keyword.charCodeAt(i)) return false;
  }
  if (program === undefined) return true;
  const end = place + keyword.trimEnd().length;
  return /\s/.test(text[end] ?? "") && !/[\w.:-]/.test(text[place - 1] ?? "");
}

/** Whether an option of a program stands anywhere behind its name. */
function hasOption(text: string, { options }: ProgramRule, place: number): boolean {
  for (const option in options) if (text.includes(option, place)) return true;
  // Short options may be joined, as in `-su`.
  return Object.values(options).includes(":");
}

/** The state of the redaction of one text. */
class Scan {
  readonly text: string;
  readonly #parts: string[] = [];
  readonly #counts = new Map<string, number>();
  /** How much of the text is in the parts. */
  #copied = 0;
  #marks = 0;
  /** Secrets of programs that are ahead, in order. */
  #ahead: (Span & { readonly id: string })[] = [];
  /** How far the options of a program were read. */
  readonly #programsRead = new Map<ProgramRule, number>();
  /** The quote that is open at a place, as a shell reads the text. */
  #quote = { at: 0, open: "" };

  constructor(text: string) {
    this.text = text;
  }

  skipMark(place: number): number | undefined {
    WHOLE_MARK.lastIndex = place;
    return WHOLE_MARK.test(this.text) ? WHOLE_MARK.lastIndex : undefined;
  }

  /** Replaces the secret of a rule whose keyword stands at the place. Returns the place behind it. */
  apply(rule: RedactionRule, place: number): number | undefined {
    const { pattern, accepts, id } = rule;
    pattern.lastIndex = place;
    const found = pattern.exec(this.text);
    if (found === null) return undefined;
    const groups: Groups = found.groups ?? {};
    const group = SECRETS.find((name) => groups[name] !== undefined);
    const secret = (group === undefined ? undefined : groups[group]) ?? found[0];
    if (secret.includes(MARK) || accepts?.(secret, groups) === false) return undefined;
    const start = pattern.lastIndex - secret.length;
    const end = this.#endOf(start, pattern.lastIndex, group ?? "");
    if (end === start || start < this.#copied) return undefined;
    return this.#replaceUpTo({ start, end, id });
  }

  /** Finds the secrets in the options of a program whose name stands at the place. */
  readProgram(rule: ProgramRule, place: number, behind: number): void {
    if (place < (this.#programsRead.get(rule) ?? 0) || place < this.#copied) return;
    const { secrets, end } = secretsOfProgram(this.text, behind, rule);
    this.#programsRead.set(rule, end);
    this.#ahead.push(...secrets.map((secret) => ({ ...secret, id: rule.id })));
    this.#ahead.sort((a, b) => a.start - b.start);
  }

  result(): Redacted {
    this.#replaceUpTo(undefined);
    if (this.#marks === 0) return { text: this.text, redactions: [] };
    this.#parts.push(this.text.slice(this.#copied));
    const redactions = Array.from(this.#counts, ([rule, count]) => ({ rule, count }));
    return { text: this.#parts.join(""), redactions };
  }

  /** Replaces the secrets of programs before a secret, and then that one, unless it overlaps with them. */
  #replaceUpTo(secret: (Span & { readonly id: string }) | undefined): number | undefined {
    const from = secret?.start ?? Infinity;
    while (this.#ahead[0] && this.#ahead[0].start < from) {
      const [one] = this.#ahead.splice(0, 1);
      if (one && one.start >= this.#copied) this.#replace(one);
    }
    if (secret === undefined) return undefined;
    if (secret.start >= this.#copied) this.#replace(secret);
    return this.#copied;
  }

  #replace({ start, end, id }: Span & { readonly id: string }): void {
    const mark = this.#marks < MOST_MARKS ? `${MARK}${id}]` : "*";
    this.#parts.push(this.text.slice(this.#copied, start), mark);
    this.#copied = end;
    this.#marks++;
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  /** The end of a value, of which a pattern matches only the beginning; before a command behind a closing quote. */
  #endOf(start: number, matched: number, group: string): number {
    const quote = this.text[start - 1] ?? "";
    const isQuoted = group === "double" || group === "single";
    if (
      isQuoted &&
      /[;|&\n\x60]/.test(this.text.slice(start, matched)) &&
      this.#closes(start - 1)
    ) {
      const word = /[^\s;&|<>()\x60"']*/y;
      word.lastIndex = start;
      return start + (word.exec(this.text)?.[0].length ?? 0);
    }
    const continued = CONTINUED.get(group === "loose" ? "bare" : group);
    let end = matched;
    if (!continued || (isQuoted && this.text[end] === quote)) return end;
    for (;;) {
      continued.lastIndex = end;
      if (!continued.test(this.text)) return end;
      end = continued.lastIndex;
    }
  }

  /** Whether the quote at a place closes one that a shell would have open there. */
  #closes(place: number): boolean {
    let { at, open } = this.#quote;
    if (at > place) return false;
    for (; at < place; at++) {
      const char = this.text[at] ?? "";
      if (char === "\\" && open !== "'") at++;
      else if (open === "" && (char === "'" || char === '"')) open = char;
      else if (char === open) open = "";
    }
    this.#quote = { at, open };
    return open !== "" && open === this.text[place];
  }
}

/** The rules that hold for everyone. */
const common = new Redactor(REDACTION_RULES);

/** Replaces the secrets in a text by the rules that hold for everyone. */
export function redactText(text: string): Redacted {
  return common.redact(text);
}

/** Replaces the secrets in the texts of an event by the rules that hold for everyone. */
export function redactEvent<Event extends Texts>(event: Event): Event {
  return common.redactEvent(event);
}
