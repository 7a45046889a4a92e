/**
 * Finds the rules that can decide a command, whatever the other facts about it are: those whose patterns match one of
 * the texts that the command is compared with. Most commands concern none or a few of a document's rules, so most of
 * the events of a fleet differ only in facts that no rule looks at.
 */
import { type Form, splitAtSpace, WrittenForm } from "../policies/command-form.ts";
import { splitCommand } from "../policies/command-parts.ts";
import type { Rule } from "../policies/evaluate.ts";
import { type Glob, globOf, matchesGlob } from "../policies/glob.ts";
import { COMPARISON_STEPS, type StepBudget } from "../policies/step-budget.ts";
import type { RecordedCommand } from "./reasons.ts";

/** Positions of rules in a list. */
type Positions = number[];

/** The rules that can decide a command. */
export interface Relevant {
  /** Their positions, in order. */
  readonly positions: readonly number[];
  /** Whether the whole text of the command was understood. */
  readonly isComplete: boolean;
}

/** A pattern, and the rules that have it. */
interface Listed<Pattern> {
  readonly pattern: Pattern;
  readonly rules: Positions;
}

/** Rules by their patterns, to be compared with many commands. A pattern of several rules is compared once. */
export class RelevantRules {
  readonly #count: number;
  readonly #always: Positions = [];
  readonly #exact = new Map<string, Positions>();
  /** By their first word. */
  readonly #prefixes = new Map<string, Listed<readonly string[]>[]>();
  readonly #globs: readonly Listed<Glob>[];
  readonly #providers: readonly Listed<Glob>[];
  readonly #work: StepBudget;

  /** @param work counts the splitting and the comparisons */
  constructor(rules: readonly Rule[], work: StepBudget) {
    const globs = new Map<string, Positions>();
    const providers = new Map<string, Positions>();
    const prefixes = new Map<string, Listed<readonly string[]>>();
    for (const [at, { match }] of rules.entries()) {
      const { commands } = match;
      if (!commands && !match.providers) this.#always.push(at);
      // Of a rule with both, the command alone is compared.
      if (!commands) for (const provider of match.providers ?? []) list(providers, provider, at);
      for (const pattern of commands ?? []) {
        if ("exact" in pattern) list(this.#exact, pattern.exact.trim(), at);
        else if ("glob" in pattern) list(globs, pattern.glob, at);
        else {
          const words = splitAtSpace(pattern.prefix);
          const found = prefixes.get(words.join(" ")) ?? { pattern: words, rules: [] };
          found.rules.push(at);
          prefixes.set(words.join(" "), found);
        }
      }
    }
    for (const one of prefixes.values()) {
      const first = one.pattern[0];
      if (first === undefined) this.#always.push(...one.rules);
      else this.#prefixes.set(first, [...(this.#prefixes.get(first) ?? []), one]);
    }
    this.#globs = Array.from(globs, ([glob, own]) => ({ pattern: globOf(glob), rules: own }));
    this.#providers = Array.from(providers, ([glob, own]) => ({
      pattern: globOf(glob),
      rules: own,
    }));
    this.#count = rules.length;
    this.#work = work;
  }

  /** The rules that can decide a command whose text is known. */
  for({ command = "", provider }: RecordedCommand): Relevant {
    const text = command.trim();
    const found = new Uint8Array(this.#count);
    const add = (rules: Positions): void => {
      for (const rule of rules) found[rule] = 1;
    };
    add(this.#always);
    if (provider !== undefined) this.#addByProgram(provider, add);
    let compared: string | undefined; // most commands have forms with one and the same text
    const compare = (form: Form): void => {
      this.#compareWords(form, add);
      if (this.#exact.size === 0 && this.#globs.length === 0) return;
      if (form.text !== compared) this.#compareText(form.text, add);
      compared = form.text;
    };
    compare(new WrittenForm(text));
    const required = (forms: readonly Form[]): void => forms.forEach(compare);
    const isComplete = splitCommand(text, { suspected: compare, required }, this.#work);
    const positions: number[] = [];
    for (let at = 0; at < found.length; at++) if (found[at] === 1) positions.push(at);
    return { positions, isComplete };
  }

  #compareWords(form: Form, add: (rules: Positions) => void): void {
    const work = this.#work;
    const program = form.wordAt(0);
    const prefixes = program === undefined ? [] : (this.#prefixes.get(program) ?? []);
    work.spend(COMPARISON_STEPS * (1 + prefixes.length));
    for (const { pattern, rules } of prefixes) {
      if (pattern.every((word, at) => form.wordAt(at) === word)) add(rules);
    }
    if (program !== undefined) this.#addByProgram(program, add);
  }

  #compareText(text: string, add: (rules: Positions) => void): void {
    const work = this.#work;
    if (this.#exact.size > 0) {
      work.spend(text.length);
      add(this.#exact.get(text) ?? []);
    }
    for (const { pattern, rules } of this.#globs) if (matchesGlob(pattern, text, work)) add(rules);
  }

  #addByProgram(program: string, add: (rules: Positions) => void): void {
    for (const { pattern, rules } of this.#providers) {
      if (matchesGlob(pattern, program, this.#work)) add(rules);
    }
  }
}

function list(lists: Map<string, Positions>, pattern: string, rule: number): void {
  const found = lists.get(pattern);
  if (found) found.push(rule);
  else lists.set(pattern, [rule]);
}
