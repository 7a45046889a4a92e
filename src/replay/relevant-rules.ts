/**
 * Compares a command's texts with the patterns of rules, whatever the other facts about it are. Most commands concern
 * none or a few of a document's rules, so most of the events of a fleet differ only in facts that no rule looks at. And
 * commands whose comparisons have the same results are decided alike: one pod is deleted like another.
 */
import { type Form, splitAtSpace, WrittenForm } from "../policies/shell/command-form.ts";
import { splitCommand } from "../policies/shell/command-parts.ts";
import type { ReportedCommand } from "../policies/reported-command.ts";
import type { CommandPattern, Rule } from "../policies/rules.ts";
import { type Glob, globOf, matchesGlob } from "../policies/glob.ts";
import { COMPARISON_STEPS, type StepBudget } from "../policies/step-budget.ts";
import { trimmed } from "../policies/trimmed.ts";

/** Positions of rules in a list. */
type Positions = number[];

/** More rules for one command are not listed: the whole document decides it. */
const MOST_RULES = 64;

/** The rules that can decide a command. */
export interface Relevant {
  /** Their positions, in order; `undefined` if there are more than `MOST_RULES`. */
  readonly positions: readonly number[] | undefined;
  /**
   * The results of all comparisons with the command: commands for which they are equal are decided alike. `undefined` if
   * one of the rules also compares programs with its providers.
   */
  readonly results: string | undefined;
}

/** A pattern, and the rules that have it in their match. It may also be one of an exception. */
interface Listed<Pattern> {
  readonly pattern: Pattern;
  readonly id: number;
  readonly rules: Positions;
}

/** Patterns by their texts. */
type Lists<Pattern> = Map<string, Listed<Pattern>>;

/** Rules by their patterns, to be compared with many commands. A pattern of several rules is compared once. */
export class RelevantRules {
  /** The rules that may decide any command. */
  readonly #always: Positions = [];
  readonly #exact: Lists<string> = new Map();
  /** By their first word. */
  readonly #prefixes = new Map<string, Listed<readonly string[]>[]>();
  readonly #globs: readonly Listed<Glob>[];
  readonly #providers: readonly Listed<Glob>[];
  /** The rules that compare programs with providers, themselves or in an exception. */
  readonly #withProviders: ReadonlySet<number>;
  /** Whether one of `#always` does. */
  readonly #isAlwaysByProvider: boolean;
  readonly #work: StepBudget;

  /** @param work counts the splitting and the comparisons */
  constructor(rules: readonly Rule[], work: StepBudget) {
    const globs: Lists<Glob> = new Map();
    const providers: Lists<Glob> = new Map();
    const prefixes: Lists<readonly string[]> = new Map();
    const listed = (pattern: CommandPattern): Listed<unknown> => {
      if ("exact" in pattern) return list(this.#exact, trimmed(pattern.exact), (text) => text);
      if ("glob" in pattern) return list(globs, pattern.glob, globOf);
      return list(prefixes, splitAtSpace(pattern.prefix).join(" "), splitAtSpace);
    };
    for (const [at, { match, except = [] }] of rules.entries()) {
      const { commands } = match;
      if (!commands && !match.providers) this.#always.push(at);
      // Of a rule with both, the command alone is compared.
      if (!commands) {
        for (const one of match.providers ?? []) list(providers, one, globOf).rules.push(at);
      }
      for (const pattern of commands ?? []) listed(pattern).rules.push(at);
      for (const pattern of except.flatMap((one) => one.commands ?? [])) listed(pattern);
    }
    for (const one of prefixes.values()) {
      const first = one.pattern[0];
      if (first === undefined) for (const rule of one.rules) this.#always.push(rule);
      else {
        const ofWord = this.#prefixes.get(first) ?? [];
        ofWord.push(one);
        this.#prefixes.set(first, ofWord);
      }
    }
    this.#globs = [...globs.values()];
    this.#providers = [...providers.values()];
    const hasProviders = ({ match, except = [] }: Rule): boolean =>
      [match, ...except].some((one) => one.providers !== undefined);
    this.#withProviders = new Set(rules.flatMap((rule, at) => (hasProviders(rule) ? [at] : [])));
    this.#isAlwaysByProvider = this.#always.some((at) => this.#withProviders.has(at));
    this.#work = work;
  }

  /** The rules that can decide a command whose text is known. */
  for({ command = "", provider }: ReportedCommand): Relevant {
    const text = trimmed(command);
    const found = new Set<number>(); // beside those of `#always`, which may be thousands
    let isByProvider = this.#isAlwaysByProvider;
    const add = (rules: Positions): void => {
      this.#work.spend(COMPARISON_STEPS * rules.length);
      for (const rule of rules) {
        found.add(rule);
        isByProvider ||= this.#withProviders.has(rule);
      }
    };
    if (provider !== undefined) this.#addByProgram(provider, add);
    let compared: string | undefined; // most commands have forms with one and the same text
    let resultOfText = "";
    const compare = (form: Form): string => {
      const result = this.#compareWords(form, add);
      if (this.#exact.size === 0 && this.#globs.length === 0) return result;
      if (form.text !== compared) resultOfText = this.#compareText(form.text, add);
      compared = form.text;
      return result + resultOfText;
    };
    const whole = compare(new WrittenForm(text));
    // Neither their order nor their number makes a difference to `evaluate`.
    const ofSuspected = new Set<string>();
    const ofRequired = new Set<string>();
    const suspected = (form: Form): void => void ofSuspected.add(compare(form));
    const required = (forms: readonly Form[]): void => {
      ofRequired.add(forms.map(compare).join("+"));
    };
    const doubt = splitCommand(text, { suspected, required }, this.#work);
    const positions =
      this.#always.length + found.size > MOST_RULES
        ? undefined
        : [...this.#always, ...found].sort((a, b) => a - b);
    if (isByProvider) return { positions, results: undefined };
    // The positions follow from the results.
    const results = [doubt, whole, sorted(ofSuspected), sorted(ofRequired)];
    return { positions, results: results.join(";") };
  }

  #compareWords(form: Form, add: (rules: Positions) => void): string {
    const work = this.#work;
    const program = form.wordAt(0);
    const prefixes = program === undefined ? [] : (this.#prefixes.get(program) ?? []);
    work.spend(COMPARISON_STEPS * (1 + prefixes.length));
    let result = "";
    for (const { pattern, id, rules } of prefixes) {
      if (!pattern.every((word, at) => form.wordAt(at) === word)) continue;
      add(rules);
      result += `p${id}`;
    }
    if (program !== undefined) this.#addByProgram(program, add);
    return result;
  }

  #compareText(text: string, add: (rules: Positions) => void): string {
    const work = this.#work;
    let result = "";
    if (this.#exact.size > 0) {
      work.spend(text.length);
      const exact = this.#exact.get(text);
      if (exact) {
        add(exact.rules);
        result += `e${exact.id}`;
      }
    }
    for (const { pattern, id, rules } of this.#globs) {
      if (!matchesGlob(pattern, text, work)) continue;
      add(rules);
      result += `g${id}`;
    }
    return result;
  }

  #addByProgram(program: string, add: (rules: Positions) => void): void {
    for (const { pattern, rules } of this.#providers) {
      if (matchesGlob(pattern, program, this.#work)) add(rules);
    }
  }
}

/** The entry of a pattern in a list; a new one for a new pattern. */
function list<Pattern>(
  lists: Lists<Pattern>,
  text: string,
  make: (text: string) => Pattern,
): Listed<Pattern> {
  const found = lists.get(text) ?? { pattern: make(text), id: lists.size, rules: [] };
  lists.set(text, found);
  return found;
}

function sorted(results: ReadonlySet<string>): string {
  return [...results].sort().join();
}
