/**
 * Decides recorded commands by one or two documents. Equal commands are decided once, and so are events that differ
 * only in facts that no rule in question looks at. Memory is bounded, and the decisions are exact in any case.
 */
import type { PolicyDocument, Verdict } from "../policies/evaluate.ts";
import type { StepBudget } from "../policies/step-budget.ts";
import { type Decide, deciderOf } from "./decider.ts";
import { FactClasses, matchesOf } from "./fact-classes.ts";
import { doubtAbout, type NotReplayable, type RecordedCommand } from "./reasons.ts";
import { RecentValues } from "./recent-values.ts";
import { RelevantRules } from "./relevant-rules.ts";

/** The documents to compare. */
export interface Documents {
  readonly candidate: PolicyDocument;
  /** Without it, the candidate is compared with the recorded decisions. */
  readonly base: PolicyDocument | undefined;
}

/** The decisions of both documents; `was` is `undefined` without a base. */
export interface Judgement {
  readonly was: Verdict | undefined;
  readonly now: Verdict;
}

/** Documents with those of their rules that concern some commands. */
interface Excerpt {
  readonly classes: FactClasses;
  readonly decide: Decide;
  readonly decideBase: Decide | undefined;
}

/** A command, and the excerpt that decides it. */
interface CommandEntry<Kept> {
  readonly id: number;
  readonly excerpt: Excerpt;
  /** The decision, if it depends on no other facts. */
  known: Kept | NotReplayable | undefined;
}

/** Commands of more rules are decided by the whole documents. */
const MOST_RULES = 64;
/** The patterns of all excerpts; when they are used up, the whole documents decide other commands. */
const MOST_PATTERNS = 200_000;

/** Decides events, and keeps a value made by the caller for each judgement. */
export class Judge<Kept extends object> {
  readonly #documents: Documents;
  readonly #work: StepBudget;
  readonly #make: (judgement: Judgement) => Kept;
  readonly #relevant: RelevantRules;
  readonly #whole: Excerpt;
  /** Whether the rules in question depend on the provider. */
  readonly #asksForProvider: boolean;
  /** By the positions of their rules. */
  readonly #excerpts = new Map<string, Excerpt>();
  #nextId = 0;
  #patternsLeft = MOST_PATTERNS;
  readonly #ofCommands: RecentValues<CommandEntry<Kept>>;
  readonly #known: RecentValues<Kept | NotReplayable>;

  /**
   * @param work counts the steps of all decisions
   * @param make returns the value to keep
   */
  constructor(
    documents: Documents,
    work: StepBudget,
    make: (judgement: Judgement) => Kept,
    limits?: { readonly keys: number; readonly characters: number },
  ) {
    this.#documents = documents;
    this.#work = work;
    this.#make = make;
    const { candidate, base } = documents;
    const both = base ? [candidate, base] : [candidate];
    this.#relevant = new RelevantRules(
      both.flatMap(({ rules }) => rules),
      work,
    );
    this.#asksForProvider = both.some(({ rules }) =>
      rules.some(({ match }) => match.providers && !match.commands),
    );
    this.#whole = this.#excerpt(documents);
    this.#ofCommands = new RecentValues(limits);
    this.#known = new RecentValues(limits);
  }

  /**
   * Decides an event; the result is the reason if it cannot be decided.
   *
   * @throws TooMuchWork when all decisions exceed the limit of steps
   */
  of(event: RecordedCommand): Kept | NotReplayable {
    const entry = this.#entryFor(event);
    const facts = entry.excerpt.classes.of(event, this.#work);
    if (facts === "") return (entry.known ??= this.#decide(entry.excerpt, event));
    const key = `${facts}${entry.id}`;
    const found = this.#known.get(key);
    if (found !== undefined) return found;
    const known = this.#decide(entry.excerpt, event);
    this.#known.keep(key, known);
    return known;
  }

  #decide({ decide, decideBase }: Excerpt, event: RecordedCommand): Kept | NotReplayable {
    const now = decide(event);
    if (typeof now === "string") return now;
    const was = decideBase?.(event);
    return typeof was === "string" ? was : this.#make({ was, now });
  }

  #entryFor(event: RecordedCommand): CommandEntry<Kept> {
    const { command = "", provider } = event; // a blank command is as unknown as a missing one
    const key = this.#asksForProvider
      ? `${provider?.length ?? "-"},${provider ?? ""}${command}`
      : command;
    const found = this.#ofCommands.get(key);
    if (found) return found;
    // Of a command that is not known, any rule may be in question.
    const excerpt =
      doubtAbout(event, "command") === undefined
        ? this.#excerptOf(this.#relevant.for(event))
        : this.#whole;
    const entry = { id: this.#nextId++, excerpt, known: undefined };
    this.#ofCommands.keep(key, entry);
    return entry;
  }

  #excerptOf(positions: readonly number[]): Excerpt {
    if (positions.length > MOST_RULES) return this.#whole;
    const name = positions.join();
    const found = this.#excerpts.get(name);
    if (found) return found;
    const { candidate, base } = this.#documents;
    const chosen = new Set(positions);
    const start = candidate.rules.length;
    const excerpted = {
      candidate: { ...candidate, rules: candidate.rules.filter((_, at) => chosen.has(at)) },
      base: base && { ...base, rules: base.rules.filter((_, at) => chosen.has(start + at)) },
    };
    this.#patternsLeft -= 1 + patternsIn(excerpted.candidate) + patternsIn(excerpted.base);
    if (this.#patternsLeft < 0) return this.#whole;
    const excerpt = this.#excerpt(excerpted);
    this.#excerpts.set(name, excerpt);
    return excerpt;
  }

  #excerpt({ candidate, base }: Documents): Excerpt {
    return {
      classes: new FactClasses(base ? [candidate, base] : [candidate]),
      decide: deciderOf(candidate, this.#work),
      decideBase: base && deciderOf(base, this.#work),
    };
  }
}

function patternsIn(document: PolicyDocument | undefined): number {
  if (!document) return 0;
  return matchesOf(document).reduce(
    (sum, match) => Object.values(match).reduce((all, list) => all + list.length, sum),
    0,
  );
}
