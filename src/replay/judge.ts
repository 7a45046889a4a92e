/**
 * Decides recorded commands by one or two documents. Equal commands are decided once, and so are commands and other facts
 * that no rule in question can tell apart. Memory is bounded, and the decisions are exact in any case.
 */
import type { Verdict } from "../policies/evaluate.ts";
import type { PolicyDocument } from "../policies/rules.ts";
import { isToolUse, type ReportedCommand } from "../policies/reported-command.ts";
import type { StepBudget } from "../policies/step-budget.ts";
import { type Decide, deciderOf } from "./decider.ts";
import { type FactClass, FactClasses, matchesOf } from "./fact-classes.ts";
import { doubtAbout, type NotReplayable } from "./reasons.ts";
import { RecentValues } from "./recent-values.ts";
import { ownText } from "./recorded-row.ts";
import { type Relevant, RelevantRules } from "./relevant-rules.ts";

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

/** A command, or several that are decided alike: the excerpt that decides them, and the decisions by the other facts. */
interface CommandEntry<Kept> {
  readonly excerpt: Excerpt;
  /** The results of the comparisons that its commands have in common; `undefined` if the entry has one command. */
  readonly results: string | undefined;
  /** Kept with the command, since a table of all decisions would cost each event several misses of the cache. */
  readonly known: Map<FactClass, Kept | NotReplayable>;
}

/** The cost of choosing or leaving out a rule. */
const RULE_STEPS = 5;
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
  #patternsLeft = MOST_PATTERNS;
  readonly #ofCommands: RecentValues<CommandEntry<Kept>>;
  /** The entries of this generation by the results of their comparisons. */
  readonly #ofResults = new Map<string, CommandEntry<Kept>>();
  #generation = 0;

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
    this.#ofCommands = new RecentValues((old) => this.#entryOf(old), limits);
  }

  /**
   * Decides an event; the result is the reason if it cannot be decided.
   *
   * @throws TooMuchWork when all decisions exceed the limit of steps
   */
  of(event: ReportedCommand): Kept | NotReplayable {
    const { excerpt, known } = this.#entryFor(event);
    const facts = excerpt.classes.of(event, this.#work);
    const found = known.get(facts);
    if (found !== undefined) return found;
    const judgement = this.#decide(excerpt, event);
    known.set(typeof facts === "string" ? ownText(facts) : facts, judgement);
    this.#ofCommands.grow(typeof facts === "string" ? facts.length : 1);
    return judgement;
  }

  #decide({ decide, decideBase }: Excerpt, event: ReportedCommand): Kept | NotReplayable {
    const now = decide(event);
    if (typeof now === "string") return now;
    const was = decideBase?.(event);
    return typeof was === "string" ? was : this.#make({ was, now });
  }

  #entryFor(event: ReportedCommand): CommandEntry<Kept> {
    const { command = "" } = event; // a blank command is as unknown as a missing one
    const key = this.#asksForProvider ? withProvider(command, event) : command;
    const found = this.#ofCommands.get(key);
    if (found) return found;
    // Of a command that is not known, any rule may be in question; a tool without one is decided by rules of its own.
    const isKnown = doubtAbout(event, "command") === undefined && !isToolUse(event);
    const relevant = isKnown ? this.#relevant.for(event) : undefined;
    const excerpt = relevant ? this.#excerptOf(relevant) : this.#whole;
    const entry = this.#entryOf({ excerpt, results: relevant?.results });
    return this.#ofCommands.keep(ownText(key), entry);
  }

  /** The entry of commands with some results; a new one in each generation, so that its decisions do not add up. */
  #entryOf({ excerpt, results }: Omit<CommandEntry<Kept>, "known">): CommandEntry<Kept> {
    const entry = { excerpt, results, known: new Map() };
    if (results === undefined) return entry;
    if (this.#generation !== this.#ofCommands.generation) this.#ofResults.clear();
    this.#generation = this.#ofCommands.generation;
    const found = this.#ofResults.get(results);
    if (found) return found;
    this.#ofResults.set(results, entry);
    this.#ofCommands.grow(results.length);
    return entry;
  }

  #excerptOf({ positions }: Relevant): Excerpt {
    if (positions === undefined) return this.#whole;
    const name = positions.join();
    const found = this.#excerpts.get(name);
    if (found) return found;
    if (this.#patternsLeft < 0) return this.#whole;
    const { candidate, base } = this.#documents;
    const chosen = new Set(positions);
    const start = candidate.rules.length;
    this.#work.spend(RULE_STEPS * (start + (base?.rules.length ?? 0)));
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
    const both = base ? [candidate, base] : [candidate];
    return {
      classes: new FactClasses(both),
      decide: deciderOf(candidate, this.#work),
      decideBase: base && deciderOf(base, this.#work),
    };
  }
}

function withProvider(command: string, { provider }: ReportedCommand): string {
  return `${provider?.length ?? "-"},${provider ?? ""}${command}`;
}

function patternsIn(document: PolicyDocument | undefined): number {
  if (!document) return 0;
  return matchesOf(document).reduce(
    (sum, match) => Object.values(match).reduce((all, list) => all + list.length, sum),
    0,
  );
}
