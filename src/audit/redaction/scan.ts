/** Replaces the secrets of one text, from its start to its end. */
import { secretsOfProgram, type Span } from "./program-options.ts";
import type { ProgramRule } from "./programs.ts";
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

/** Secrets after these become `*`, so that a text cannot grow without bound. */
const MOST_MARKS = 1000;
const WHOLE_MARK = /\[redacted:[\w-]{1,40}\]/y;
const CONTINUED = new Map(
  Object.entries(CHARACTERS).map(([group, chars]) => [group, new RegExp(`${chars}{1,4096}`, "y")]),
);

const AT_OR_END = /[@\s"'<>\\]/g;
/** The longest text before an `@` that the rules accept as user and password. */
const FARTHEST_AT = 1024;

/** The last command that a rule has read. */
interface Reading {
  readonly id: string;
  /** The end of the text that was read. */
  readonly end: number;
  /** In order. Secrets before `next` are done: replaced, or part of a secret that was replaced. */
  readonly secrets: readonly Span[];
  next: number;
}

/** Finds the words of a text that contain an `@`. Positions must be asked for in rising order. */
export class AtSigns {
  readonly #text: string;
  /** The next `@`, or the end of the word if it comes first. */
  #next = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether an `@` follows in the word at a position. A pattern alone would search far ahead at each position. */
  follow(place: number): boolean {
    if (this.#next < place) {
      AT_OR_END.lastIndex = place;
      this.#next = AT_OR_END.exec(this.#text)?.index ?? this.#text.length;
    }
    return this.#text[this.#next] === "@" && this.#next - place < FARTHEST_AT;
  }
}

/** The state of the redaction of one text. */
export class Scan {
  readonly text: string;
  /** The number of characters that were read for options of programs. */
  read = 0;
  readonly #parts: string[] = [];
  readonly #counts = new Map<string, number>();
  /** The end of the text that `#parts` covers. */
  #copied = 0;
  #marks = 0;
  /** The reading of each rule of programs. One list of all secrets would have to be sorted for each command. */
  readonly #readings = new Map<ProgramRule, Reading>();
  readonly #atSigns: AtSigns;
  /** The quote that is open at a position, as a shell reads the text. */
  #quote = { at: 0, open: "" };

  constructor(text: string) {
    this.text = text;
    this.#atSigns = new AtSigns(text);
  }

  skipMark(place: number): number | undefined {
    WHOLE_MARK.lastIndex = place;
    return WHOLE_MARK.test(this.text) ? WHOLE_MARK.lastIndex : undefined;
  }

  /** Replaces the secret of a rule whose keyword is at a position. Returns the end of the secret. */
  apply(rule: RedactionRule, place: number): number | undefined {
    const { pattern, accepts, id, isBeforeAt } = rule;
    if (isBeforeAt === true && !this.#atSigns.follow(place)) return undefined;
    pattern.lastIndex = place;
    const found = pattern.exec(this.text);
    if (found === null) return undefined;
    const groups: Groups = found.groups ?? {};
    const group = SECRETS.find((name) => groups[name] !== undefined);
    const secret = (group === undefined ? undefined : groups[group]) ?? found[0];
    if (secret.includes(MARK) || accepts?.(secret, groups) === false) return undefined;
    const start = pattern.lastIndex - secret.length;
    const end = this.#endOf(start, pattern.lastIndex, group ?? "");
    if (end === start) return undefined;
    this.passTo(start);
    if (start >= this.#copied) this.#replace({ start, end }, id);
    return this.#copied;
  }

  /** Finds the secrets in the options of a program whose name begins at `place` and ends at `behind`. */
  readProgram(rule: ProgramRule, place: number, behind: number): void {
    const reading = this.#readings.get(rule) ?? { id: rule.id, end: 0, secrets: [], next: 0 };
    if (place < reading.end) return;
    this.passTo(place);
    const { secrets, end } = secretsOfProgram(this.text, behind, rule);
    this.read += end - behind;
    this.#readings.set(rule, { id: rule.id, end, secrets, next: 0 });
  }

  /** Replaces the secrets of programs before a position. No secret that is found later begins before it. */
  passTo(place: number): void {
    for (;;) {
      let first: Reading | undefined;
      let start = place;
      for (const reading of this.#readings.values()) {
        const ahead = reading.secrets[reading.next]?.start ?? Infinity;
        if (ahead >= start) continue;
        first = reading;
        start = ahead;
      }
      const secret = first?.secrets[first.next++];
      if (first === undefined || secret === undefined) return;
      if (start >= this.#copied) this.#replace(secret, first.id);
    }
  }

  result(): Redacted {
    this.passTo(Infinity);
    if (this.#marks === 0) return { text: this.text, redactions: [] };
    this.#parts.push(this.text.slice(this.#copied));
    const redactions = Array.from(this.#counts, ([rule, count]) => ({ rule, count }));
    return { text: this.#parts.join(""), redactions };
  }

  #replace({ start, end }: Span, id: string): void {
    const mark = this.#marks < MOST_MARKS ? `${MARK}${id}]` : "*";
    this.#parts.push(this.text.slice(this.#copied, start), mark);
    this.#copied = end;
    this.#marks++;
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  /**
   * The end of a value, of which a pattern matches only the beginning. If the opening quote in fact closes an earlier
   * one, the value ends with its word, so that a command after it stays visible.
   */
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

  /** Whether the quote at a position closes a quote that is open there, as a shell reads the text. */
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
