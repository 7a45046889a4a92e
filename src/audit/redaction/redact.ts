/**
 * Removes secrets from texts before they are stored, streamed or spooled. One pass over the characters looks up each
 * group of three letters in a table of the beginnings of keywords. A pattern is tried only where a whole keyword is
 * found. So a text without keywords costs about a nanosecond a character, and every text takes linear time.
 */
import { finish, finishInTime, type Work } from "../../core/scheduling/work.ts";
import { REDACTED_FIELDS } from "../event-fields.ts";
import { type Entry, Keywords, nextGroup, standsAt } from "./entries.ts";
import { optionHint } from "./option-hint.ts";
import { isLayered, withoutLayer } from "./layers.ts";
import { type LiteralFamily, literalFamilies, Literals } from "./literals.ts";
import { type Letters, lettersOf, NameEndings } from "./names.ts";
import { COMMAND_PROGRAMS } from "./command-rules.ts";
import { PROGRAM_RULES } from "./programs.ts";
import { Quotes } from "./quotes.ts";
import { REDACTION_RULES } from "./rules.ts";
import { AtSigns, type Match, Scan } from "./scan.ts";
import { type RedactionRule, secretAt } from "./shapes.ts";
import { inOrder, type Redacted, replaced, type Secret } from "./spans.ts";
import { MARK } from "./values.ts";

type RedactedField = (typeof REDACTED_FIELDS)[number];
type Texts = { readonly [F in RedactedField]?: unknown };

/** The characters in one part of long work: less than a millisecond even for a hostile text. */
const PART_LENGTH = 512;
/** Up to this length, a text is searched for a program's options before its words are read. */
const LOOKED_THROUGH = 2048;
/** A text that takes more steps is redacted in parts, even if it has no secret: some tenths of a millisecond. */
const MOST_STEPS = 4_096;
/** The steps of trying a pattern, or of looking for options, as against comparing a keyword. */
const TRY_STEPS = 128;
/** A text is redacted in parts as well if all literals together are searched in more characters than these. */
const MOST_SEARCHED = 1 << 15;

/** The layers of quotes that are removed. */
const MOST_LAYERS = 3;
/** Layers of longer texts are not removed: it would take too long for a hostile one. */
const LAYERED_LENGTH = 16_384;
/** How often a text with layers is redacted: a word that was joined may be another word after the first time. */
const MOST_ROUNDS = 3;
const QUOTES = /["'\\]/;

/** A match and the index of the entry behind its own, or the end of a secret. */
type Tried = { readonly match: Match; readonly behind: number } | number | undefined;

/** Replaces secrets by `[redacted:<rule>]`. */
export class Redactor {
  readonly #keywords: Keywords;
  readonly #literals: readonly LiteralFamily[];
  readonly #names: Letters;
  /** The steps of all calls of `mayApply`: keywords that were compared, and patterns that were tried. */
  steps = 0;

  constructor(rules: readonly RedactionRule[]) {
    this.#literals = literalFamilies(rules);
    this.#names = lettersOf(rules.find(({ isEnding }) => isEnding)?.keywords ?? []);
    const ofRules = rules.flatMap((rule) => rule.keywords.map((keyword) => ({ keyword, rule })));
    const ofPrograms = [...PROGRAM_RULES, ...COMMAND_PROGRAMS].flatMap((program) => {
      const hint = optionHint(program);
      return program.programs.map((name) => ({ keyword: name.padEnd(3), program, hint }));
    });
    this.#keywords = new Keywords([{ keyword: MARK }, ...ofRules, ...ofPrograms]);
  }

  /** Whether a rule may apply to a text; false for most texts without secrets. Takes less than a millisecond. */
  mayApply(text: string): boolean {
    if (this.#literals.length * text.length > MOST_SEARCHED) return true;
    for (const literal of this.#literals) if (text.includes(literal.text)) return true;
    const names = new NameEndings(this.#names, text);
    const atSigns = new AtSigns(text);
    const most = this.steps + MOST_STEPS;
    let hasKeyword = false;
    let group = 0;
    for (let at = 0; at < text.length; at++) {
      group = nextGroup(group, text.charCodeAt(at));
      const entries = this.#keywords.from(group, text, at + 1);
      if (entries === undefined) continue;
      this.steps += entries.length;
      const found = this.#mayApplyAt(names, at - 2, entries, atSigns);
      if (found === true || this.steps > most) return true;
      hasKeyword ||= found === "keyword";
    }
    return hasKeyword && mayHaveLayers(text);
  }

  /** Replaces the secrets of a text. */
  redact(text: string): Redacted {
    return this.mayApply(text) ? finish(this.redactInParts(text)) : { text, redactions: [] };
  }

  /** Replaces the secrets of a text that may be long. */
  *redactInParts(text: string): Work<Redacted> {
    const counts = new Map<string, number>();
    let rest = text;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const found = yield* replaced(rest, yield* this.#secretsOf(rest, MOST_LAYERS));
      rest = found.text;
      for (const { rule, count } of found.redactions) {
        counts.set(rule, (counts.get(rule) ?? 0) + count);
      }
      if (found.redactions.length === 0 || !mayHaveLayers(text)) break;
    }
    return { text: rest, redactions: Array.from(counts, ([rule, count]) => ({ rule, count })) };
  }

  /** The secrets of a text, and of what it is without some layers of quotes. */
  *#secretsOf(text: string, layers: number): Work<readonly Secret[]> {
    const quotes = new Quotes(text);
    if (text.length > PART_LENGTH) yield* quotes.read();
    const mayHaveOne = layers > 0 && text.length <= LAYERED_LENGTH;
    const layer = mayHaveOne ? yield* withoutLayer(text, quotes) : undefined;
    const scan = new Scan(new NameEndings(this.#names, text), quotes, layer);
    const literals = new Literals(text);
    yield* literals.find(this.#literals);
    let group = 0;
    let pause = PART_LENGTH;
    for (let at = 0; at < text.length; at++) {
      if (at >= pause) {
        yield;
        scan.passTo(at - 2);
        pause = at + PART_LENGTH;
      }
      group = nextGroup(group, text.charCodeAt(at));
      if (at - 2 === literals.next) {
        const next = yield* this.#replaceLiteral(scan, literals);
        literals.passTo(next ?? at - 1);
        if (next !== undefined) {
          at = next - 1;
          group = 0;
          continue;
        }
      }
      const entries = this.#keywords.from(group, text, at + 1);
      if (entries === undefined) continue;
      const { read } = scan;
      let next = this.#try(scan, at - 2, entries, 0);
      while (typeof next === "object") {
        const { match, behind } = next;
        next = (yield* scan.take(match)) ?? this.#try(scan, at - 2, entries, behind);
      }
      pause -= scan.read - read + entries.length;
      if (next === undefined) continue;
      at = next - 1;
      group = 0;
      literals.passTo(next);
    }
    const secrets = scan.result();
    if (layer === undefined) return secrets;
    const deeper: Secret[] = [];
    for (const secret of yield* this.#secretsOf(layer.text, layers - 1)) {
      const { rule, reach } = secret;
      let { isRest } = secret;
      for (const span of layer.sourceOf(secret)) {
        const visible = yield* scan.visible(span, reach);
        if (visible.end > visible.start) deeper.push({ ...visible, rule, isRest, reach });
        if (visible.end < span.end) break;
        isRest = true;
      }
    }
    yield;
    return inOrder(secrets, deeper);
  }

  *#replaceLiteral(scan: Scan, literals: Literals): Work<number | undefined> {
    for (const rule of literals.rules()) {
      const found = scan.find(rule, literals.next);
      const next = typeof found === "object" ? yield* scan.take(found) : found;
      if (next !== undefined) return next;
    }
    return undefined;
  }

  #mayApplyAt(
    names: NameEndings,
    place: number,
    entries: readonly Entry[],
    atSigns: AtSigns,
  ): boolean | "keyword" {
    const { text } = names;
    let found: false | "keyword" = false;
    for (const entry of entries) {
      if (!standsAt(names, entry, place)) continue;
      this.steps += TRY_STEPS;
      found = "keyword";
      const { rule, hint } = entry;
      if (hint && (text.length > LOOKED_THROUGH || hint(text, place))) return true;
      if (rule === undefined) continue;
      if (rule.isBeforeAt === true && !atSigns.follow(place)) continue;
      if (mayFind(rule, text, place)) return true;
    }
    return found;
  }

  /** Tries the rules whose keyword is at a position, from one of them on. Returns a match, or the end of a secret. */
  #try(scan: Scan, place: number, entries: readonly Entry[], from: number): Tried {
    for (let i = from; i < entries.length; i++) {
      const entry = entries[i] as Entry;
      if (!standsAt(scan.names, entry, place)) continue;
      const { keyword, rule, program } = entry;
      if (program) scan.readProgram(program, place, place + keyword.trimEnd().length);
      const found = program ? undefined : rule ? scan.find(rule, place) : scan.skipMark(place);
      if (typeof found === "object") return { match: found, behind: i + 1 };
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Whether layers of quotes would be removed from a text. */
function mayHaveLayers(text: string): boolean {
  return text.length <= LAYERED_LENGTH && isLayered(text);
}

/** Whether a rule may find a secret at a position. If there are quotes, it may accept what is in them. */
function mayFind(rule: RedactionRule, text: string, place: number): boolean {
  rule.pattern.lastIndex = place;
  if (!rule.pattern.test(text)) return false;
  return QUOTES.test(text) || secretAt(rule, text, place) !== undefined;
}

/** Redacts by the rules that apply to every organization. */
export const commonRedactor = new Redactor(REDACTION_RULES);

/**
 * Replaces the secrets in the texts of an event, by the rules that apply to every organization.
 *
 * @returns the same object if there are no secrets; `undefined` if it is late before all are found
 */
export function redactEvent<Event extends Texts>(
  event: Event,
  isLate = () => false,
): Event | undefined {
  let result = event;
  for (const field of REDACTED_FIELDS) {
    const value = event[field];
    if (typeof value !== "string" || !commonRedactor.mayApply(value)) continue;
    const found = finishInTime(commonRedactor.redactInParts(value), isLate);
    if (found === undefined) return undefined;
    if (found.redactions.length > 0) result = { ...result, [field]: found.text };
  }
  return result;
}
