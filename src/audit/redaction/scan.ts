/** Finds the secrets of one text, from its start to its end. */
import { finish, type Work } from "../../core/scheduling/work.ts";
import type { Layer } from "./layers.ts";
import type { NameEndings } from "./names.ts";
import { secretsOfProgram } from "./program-options.ts";
import type { ProgramRule } from "./programs.ts";
import type { Quotes } from "./quotes.ts";
import { CHARACTERS, type RedactionRule, secretAt, type Reach } from "./shapes.ts";
import type { Secret, Span } from "./spans.ts";
import { VisibleCommands } from "./visible.ts";

const WHOLE_MARK = /\[redacted:[\w-]{1,40}\]/y;
/** A character that may end a command, if it is not in quotes. */
const SEPARATOR = /[;|&\n\x60]|\$\(/;
const UNQUOTED = /[^\s;&|<>()\x60"']{1,4096}/y;
const UNQUOTED_PART = new RegExp(String.raw`(?:${CHARACTERS.bare}|\\["']){1,4096}`, "y");
/** A character after a closing quote that belongs to the same value. */
const GOES_ON = /["'\\$\w]/;
const CONTINUED = new Map(
  Object.entries(CHARACTERS).map(([group, chars]) => [group, new RegExp(`${chars}{1,4096}`, "y")]),
);

const AT_OR_END = /[@\s"'<>\\]/g;
/** The longest text before an `@` that the rules accept as user and password. */
const FARTHEST_AT = 2304;
/** Trying a pattern takes about as long as reading this many characters. */
const TRY_LENGTH = 16;
/** The distance from a keyword to its secret in which no other secret fits. */
const FARTHEST_NEAR = 16;
/** How much of a long value is read in one part of the work: pieces in and between quotes, and runs of a pattern. */
const PIECES_OF_A_PART = 256;
/** A run is up to 4,096 characters. */
const RUNS_OF_A_PART = 16;

/** The last command that a rule has read. */
interface Reading {
  readonly id: string;
  /** The end of the text that was read. */
  readonly end: number;
  /** In order. Secrets before `next` are done: replaced, or part of a secret that was replaced. */
  readonly secrets: readonly Span[];
  next: number;
}

/** The match of a rule; its secret may be longer. */
export interface Match extends Span {
  readonly rule: string;
  /** The group of the secret, or an empty text. */
  readonly group: string;
  /** The position of the keyword. */
  readonly place: number;
  readonly continues: RegExp | undefined;
  readonly reach: Reach | undefined;
}

/** A secret that begins far behind its keyword. */
interface Far extends Secret {
  readonly match: Match;
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
  readonly names: NameEndings;
  /** The number of characters that were read for options of programs and by patterns. */
  read = 0;
  readonly #quotes: Quotes;
  readonly #commands: VisibleCommands;
  /** The text without its outer quotes. */
  readonly #layer: Layer | undefined;
  readonly #secrets: Secret[] = [];
  /** The end of the last secret. */
  #copied = 0;
  /** The end of the text that was read by `continues` of a rule. It is not read again, though most of it may not be secret. */
  #continuedTo = 0;
  /** The reading of each rule of programs. One list of all secrets would have to be sorted for each command. */
  readonly #readings = new Map<ProgramRule, Reading>();
  /** The secrets of rules that begin far behind their keywords, in order. */
  readonly #waiting: Far[] = [];
  readonly #atSigns: AtSigns;

  constructor(names: NameEndings, quotes: Quotes, layer: Layer | undefined) {
    const { text } = names;
    this.text = text;
    this.names = names;
    this.#quotes = quotes;
    this.#commands = new VisibleCommands(text, quotes);
    this.#layer = layer;
    this.#atSigns = new AtSigns(text);
  }

  skipMark(place: number): number | undefined {
    WHOLE_MARK.lastIndex = place;
    return WHOLE_MARK.test(this.text) ? WHOLE_MARK.lastIndex : undefined;
  }

  /** Tries a rule whose keyword is at a position. Returns what it has found, or the end of an earlier secret there. */
  find(rule: RedactionRule, place: number): Match | number | undefined {
    const { accepts, id, isBeforeAt, continues, reach } = rule;
    if (place >= (this.#waiting[0]?.start ?? Infinity)) this.passTo(place + 1);
    if (place < this.#copied) return this.#copied;
    if (isBeforeAt === true && !this.#atSigns.follow(place)) return undefined;
    if (accepts && this.#isRewritten(place)) return undefined;
    this.read += TRY_LENGTH;
    const found = secretAt(rule, this.text, place);
    if (found === undefined) return undefined;
    const { end, group } = found;
    const start = end - found.secret.length;
    // Dozens of keywords may stand before one value, which may be as long as the text.
    const isKnown = ({ match }: Far): boolean =>
      match.start === start && match.rule === id && match.group === group;
    if (this.#waiting.some(isKnown)) return undefined;
    return { start, end, group, rule: id, place, continues, reach };
  }

  /** Replaces the secret of a match. Returns its end. */
  *take(match: Match): Work<number | undefined> {
    const { rule, reach } = match;
    const { start, end } = yield* this.visible(yield* this.#valueOf(match), reach);
    if (end === start) return undefined;
    if (start - match.place > FARTHEST_NEAR) {
      this.#wait({ start, end, rule, isRest: false, reach, match });
      return undefined;
    }
    this.passTo(start);
    if (start >= this.#copied) this.#replace({ start, end }, rule, reach);
    return this.#copied;
  }

  /** Keeps a secret that begins far behind its keyword until its position: there may be other secrets before it. */
  #wait(secret: Far): void {
    let at = this.#waiting.length;
    while (at > 0 && (this.#waiting[at - 1] as Secret).start > secret.start) at--;
    this.#waiting.splice(at, 0, secret);
  }

  /** Finds the secrets in the options of a program whose name begins at `place` and ends at `behind`. */
  readProgram(rule: ProgramRule, place: number, behind: number): void {
    const reading = this.#readings.get(rule) ?? { id: rule.id, end: 0, secrets: [], next: 0 };
    const quotesEnd = this.#endOfQuotedName(place, behind);
    if (place < reading.end || (quotesEnd === undefined && this.#isRewritten(place))) return;
    this.passTo(place);
    const from = quotesEnd === undefined ? behind : quotesEnd + 1;
    const { secrets, end } = secretsOfProgram(this.text, from, rule, this.#quotes);
    this.read += end - from;
    const visible = secrets.map((secret) => finish(this.visible(secret)));
    this.#readings.set(rule, { id: rule.id, end, secrets: visible, next: 0 });
  }

  /** The end of the quotes around a program's name or path; `undefined` if they are around more, or if it is in a list. */
  #endOfQuotedName(place: number, behind: number): number | undefined {
    const { open = 0, close = Infinity } = this.#quotes.around(place) ?? {};
    const { text } = this;
    if (close > behind + 4 || !/^(?:\.exe)?["'][ \t](?!\s*,)/i.test(text.slice(behind, close + 8)))
      return undefined;
    return open === place - 1 || /[\\/]/.test(text[place - 1] ?? "") ? close + 1 : undefined;
  }

  /** Replaces the secrets before a position that were found earlier. No secret that is found later begins before it. */
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
      const [waiting] = this.#waiting;
      if (waiting && waiting.start < start) {
        this.#waiting.shift();
        this.#replace(waiting, waiting.rule, waiting.reach);
        continue;
      }
      const secret = first?.secrets[first.next++];
      if (first === undefined || secret === undefined) return;
      this.#replace(secret, first.id);
    }
  }

  /** The part of a secret that hides no command. */
  visible(secret: Span, reach?: Reach): Work<Span> {
    return this.#commands.before(secret, reach);
  }

  /** The secrets, in the order of the text. */
  result(): readonly Secret[] {
    this.passTo(Infinity);
    return this.#secrets;
  }

  /** Whether a position is in quotes, and its word is without them in the next layer, where the rules are tried again. */
  #isRewritten(place: number): boolean {
    return this.#layer?.hasWordAt(place) === true && this.#quotes.around(place) !== undefined;
  }

  /** Adds a secret, or the part of it that is behind the last one. */
  #replace({ start, end }: Span, rule: string, reach?: Reach): void {
    if (end <= Math.max(start, this.#copied)) return;
    const isRest = start < this.#copied;
    this.#secrets.push({ start: isRest ? this.#copied : start, end, rule, isRest, reach });
    this.#copied = end;
  }

  /** The whole value of which a pattern matched the beginning. */
  *#valueOf({ start, end: matched, group, continues }: Match): Work<Span> {
    if (continues) {
      if (start < this.#continuedTo) return { start, end: matched };
      this.#continuedTo = yield* this.#skip(continues, matched);
      return { start, end: this.#continuedTo };
    }
    if (group === "whole") {
      // The quotes must be around the assignment. If they are around the command, the value ends with its word.
      const { open = start, close = start } = this.#quotes.around(start) ?? {};
      const isAround = /^(?:[\w.-]{1,100}\+?=|pass:)$/.test(this.text.slice(open + 1, start));
      return {
        start,
        end: isAround ? Math.min(matched, close) : yield* this.#skip(UNQUOTED, start),
      };
    }
    const continued = CONTINUED.get(group === "loose" ? "bare" : group);
    if (!continued) return { start, end: matched };
    const isQuoted = group === "double" || group === "single";
    const around =
      group === "escaped" ? undefined : this.#quotes.around(isQuoted ? start - 1 : start);
    const isOwn = isQuoted && around?.open === start - 1;
    let end = matched;
    if (isQuoted && around && !isOwn && SEPARATOR.test(this.text.slice(start, matched))) {
      // If the quote in fact closes an earlier one, the value ends with its word: a command after it stays visible.
      if (around.close === start - 1) return { start, end: yield* this.#skip(UNQUOTED, start) };
      end = Math.min(end, around.close);
      return { start, end };
    }
    if (!isQuoted || this.text[end] !== this.text[start - 1])
      end = yield* this.#skip(continued, end);
    if (group === "escaped" || (around && !isOwn)) return { start, end };
    if (!isQuoted) return { start, end: yield* this.#restOfWord(end) };
    const isWhole =
      this.text[end] !== this.text[start - 1] || !GOES_ON.test(this.text[end + 1] ?? "");
    return isWhole ? { start, end } : { start: start - 1, end: yield* this.#restOfWord(end + 1) };
  }

  /** The end of the word at a position outside of quotes. A part in quotes that may be a command ends it as well. */
  *#restOfWord(place: number): Work<number> {
    let end = place;
    for (let pieces = 1; ; pieces++) {
      if (pieces % PIECES_OF_A_PART === 0) yield;
      const close = this.#quotes.closeOf(end);
      const next = close === undefined ? yield* this.#skip(UNQUOTED_PART, end) : close + 1;
      if (next === end || (close !== undefined && SEPARATOR.test(this.text.slice(end, close))))
        return end;
      end = next;
    }
  }

  *#skip(pattern: RegExp, place: number): Work<number> {
    let end = place;
    for (let runs = 1; ; runs++) {
      if (runs % RUNS_OF_A_PART === 0) yield;
      pattern.lastIndex = end;
      if (!pattern.test(this.text)) return end;
      end = pattern.lastIndex;
    }
  }
}
