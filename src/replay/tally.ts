/**
 * Compares the decisions of a document on recorded events with those of another document, or with the recorded ones,
 * and counts the changes. Equal commands are decided once, as long as memory allows; the counts are exact in any case.
 */
import type { AuditEvent } from "../audit/schema.ts";
import { globFields, type PolicyDocument, type Verdict } from "../policies/evaluate.ts";
import type { PolicyDecision } from "../policies/schema.ts";
import type { StepBudget } from "../policies/step-budget.ts";
import { type Decide, deciderOf } from "./decider.ts";
import { type NotReplayable, REASONS } from "./reasons.ts";
import { RecentValues } from "./recent-values.ts";
import { EXAMPLE_FIELDS, type ReplayCounts } from "./report.ts";

const FACTS = ["command", ...Object.values(globFields)] as const;
/** The fields whose values are counted, by their names in the report. */
const COUNTED = {
  executors: "executor",
  providers: "provider",
  runtimes: "runtime_name",
} as const;

/** The names of each field in the report. */
const TOP_NAMES = 10;
/** The different names that are counted of each field, and the longest of them. */
export const MOST_NAMES = 10_000;
export const LONGEST_NAME = 256;
/** Longer texts of an example are cut. */
const LONGEST_TEXT = 1_000;

/** The documents to compare, and the number of examples. */
export interface Comparison {
  readonly candidate: PolicyDocument;
  /** Without it, the candidate is compared with the recorded decisions. */
  readonly base: PolicyDocument | undefined;
  readonly examples: number;
}

interface Changes {
  newly_denied: number;
  newly_allowed: number;
}
type Kind = keyof Changes;

interface RuleCount extends Changes {
  readonly id: string | null;
  hits: number;
}

/** The decisions about equal commands. */
interface Known {
  /** The base's decision; `undefined` if the recorded ones count. */
  readonly was: PolicyDecision | undefined;
  readonly now: Verdict;
  readonly rule: RuleCount;
  /** Whether one of the commands is an example. */
  isShown: boolean;
}

type Example = ReplayCounts["examples"][number];

/** The counts over all events that were added. */
export class Tally {
  readonly #examples: number;
  readonly #decide: Decide;
  readonly #decideBase: Decide | undefined;
  readonly #known: RecentValues<Known | NotReplayable>;
  readonly #rules = new Map<string | null, RuleCount>();
  readonly #notReplayable = new Map<NotReplayable, number>();
  readonly #names = {
    executors: new Map<string, Changes>(),
    providers: new Map<string, Changes>(),
    runtimes: new Map<string, Changes>(),
  };
  readonly #shown: Record<Kind, Example[]> = { newly_denied: [], newly_allowed: [] };
  readonly #total: Changes = { newly_denied: 0, newly_allowed: 0 };
  #evaluated = 0;

  /** @param work counts the steps of all decisions */
  constructor(
    { candidate, base, examples }: Comparison,
    work: StepBudget,
    known = new RecentValues<Known | NotReplayable>(),
  ) {
    this.#examples = examples;
    this.#decide = deciderOf(candidate, work);
    this.#decideBase = base && deciderOf(base, work);
    this.#known = known;
    for (const id of [...candidate.rules.map((rule) => rule.id), null]) {
      this.#rules.set(id, { id, hits: 0, newly_denied: 0, newly_allowed: 0 });
    }
  }

  /**
   * Adds an event.
   *
   * @throws TooMuchWork when the decisions exceed the limit of steps
   */
  add(event: AuditEvent): void {
    const recorded = event.policy_decision;
    if (!this.#decideBase && recorded === undefined) return this.#leaveOut("no_decision");
    const known = this.#knownOf(event);
    if (typeof known === "string") return this.#leaveOut(known);
    const { now, rule } = known;
    const was = known.was ?? recorded;
    this.#evaluated++;
    rule.hits++;
    if (was === undefined || was === now.decision) return;
    const kind = now.decision === "DENIED" ? "newly_denied" : "newly_allowed";
    this.#total[kind]++;
    rule[kind]++;
    for (const name of Object.keys(COUNTED) as (keyof typeof COUNTED)[]) {
      countName(this.#names[name], event[COUNTED[name]], kind);
    }
    const shown = this.#shown[kind];
    if (known.isShown || shown.length >= this.#examples) return;
    known.isShown = true;
    shown.push({
      event: exampleOf(event),
      was,
      now: now.decision,
      rule: now.rule,
      reason: now.reason,
    });
  }

  /** The counts so far. */
  counts(): ReplayCounts {
    const { newly_denied, newly_allowed } = this.#total;
    return {
      evaluated: this.#evaluated,
      unchanged: this.#evaluated - newly_denied - newly_allowed,
      newly_denied,
      newly_allowed,
      not_replayable: REASONS.flatMap((reason) => {
        const events = this.#notReplayable.get(reason);
        return events === undefined ? [] : [{ reason, events }];
      }),
      rules: [...this.#rules.values()],
      top: {
        executors: topOf(this.#names.executors),
        providers: topOf(this.#names.providers),
        runtimes: topOf(this.#names.runtimes),
      },
      examples: this.#chosenExamples(),
    };
  }

  #leaveOut(reason: NotReplayable): void {
    this.#notReplayable.set(reason, (this.#notReplayable.get(reason) ?? 0) + 1);
  }

  #knownOf(event: AuditEvent): Known | NotReplayable {
    const key = keyOf(event);
    const found = this.#known.get(key);
    if (found !== undefined) return found;
    const known = this.#judge(event);
    this.#known.keep(key, known);
    return known;
  }

  #judge(event: AuditEvent): Known | NotReplayable {
    const now = this.#decide(event);
    if (typeof now === "string") return now;
    const was = this.#decideBase?.(event);
    if (typeof was === "string") return was;
    return {
      was: was?.decision,
      now,
      rule: this.#rules.get(now.rule) as RuleCount,
      isShown: false,
    };
  }

  /** Half of the examples are of each kind, if there are as many: a rare change must not be hidden by a frequent one. */
  #chosenExamples(): readonly Example[] {
    const { newly_denied: denied, newly_allowed: allowed } = this.#shown;
    const half = Math.ceil(this.#examples / 2);
    const first = denied.slice(0, Math.max(half, this.#examples - allowed.length));
    return [...first, ...allowed.slice(0, this.#examples - first.length)];
  }
}

/** A text that is equal for events with equal facts only: the lengths keep the values apart. */
function keyOf(event: AuditEvent): string {
  let lengths = "";
  let values = "";
  for (const field of FACTS) {
    const value = event[field];
    lengths += value === undefined ? "-," : `${value.length},`;
    if (value !== undefined) values += value;
  }
  return lengths + values;
}

function countName(counts: Map<string, Changes>, name: string | undefined, kind: Kind): void {
  if (name === undefined || name.length > LONGEST_NAME) return;
  const found = counts.get(name);
  if (found) found[kind]++;
  else if (counts.size < MOST_NAMES) {
    counts.set(name, { newly_denied: 0, newly_allowed: 0, [kind]: 1 });
  }
}

function topOf(counts: ReadonlyMap<string, Changes>): ReplayCounts["top"]["executors"] {
  const sum = ({ newly_denied, newly_allowed }: Changes): number => newly_denied + newly_allowed;
  return Array.from(counts, ([name, changes]) => ({ name, ...changes }))
    .sort((a, b) => sum(b) - sum(a) || (a.name < b.name ? -1 : 1))
    .slice(0, TOP_NAMES);
}

function exampleOf(event: AuditEvent): Example["event"] {
  const texts = EXAMPLE_FIELDS.flatMap((field) => {
    const value = event[field];
    return value === undefined ? [] : [[field, shortened(value)]];
  });
  return Object.fromEntries(texts) as Example["event"];
}

/** The beginning of a long text, without half a character at its end. */
function shortened(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT).replace(/[\ud800-\udbff]$/, "")}…`;
}
