/**
 * Compares the decisions of a document on recorded events with those of another document, or with the recorded ones,
 * and counts the changes.
 */
import type { Decision } from "../core/decision.ts";
import type { Verdict } from "../policies/evaluate.ts";
import type { StepBudget } from "../policies/step-budget.ts";
import { type Documents, Judge } from "./judge.ts";
import { type NotReplayable, REASONS } from "./reasons.ts";
import { ownText, type RecordedRow } from "./recorded-row.ts";
import { EXAMPLE_FIELDS, type ReplayCounts } from "./report.ts";

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
export interface Comparison extends Documents {
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
  readonly was: Decision | undefined;
  readonly now: Verdict;
  readonly rule: RuleCount;
}

type Example = ReplayCounts["examples"][number];

/** The counts over all events that were added. */
export class Tally {
  readonly #examples: number;
  readonly #judge: Judge<Known>;
  readonly #hasBase: boolean;
  readonly #rules = new Map<string | null, RuleCount>();
  readonly #notReplayable = new Map<NotReplayable, number>();
  readonly #names = {
    executors: new Map<string, Changes>(),
    providers: new Map<string, Changes>(),
    runtimes: new Map<string, Changes>(),
  };
  /** The examples of each kind by their commands, or by the capabilities of tools that run none. */
  readonly #shown = {
    newly_denied: new Map<string, Example>(),
    newly_allowed: new Map<string, Example>(),
  };
  readonly #total: Changes = { newly_denied: 0, newly_allowed: 0 };
  #evaluated = 0;

  /**
   * @param work counts the steps of all decisions
   * @param limits of the decisions that are kept
   */
  constructor(
    { candidate, base, examples }: Comparison,
    work: StepBudget,
    limits?: { readonly keys: number; readonly characters: number },
  ) {
    this.#examples = examples;
    this.#hasBase = base !== undefined;
    this.#judge = new Judge<Known>(
      { candidate, base },
      work,
      ({ was, now }) => ({
        was: was?.decision,
        now,
        rule: this.#rules.get(now.rule) as RuleCount,
      }),
      limits,
    );
    for (const id of [...candidate.rules.map((rule) => rule.id), null]) {
      this.#rules.set(id, { id, hits: 0, newly_denied: 0, newly_allowed: 0 });
    }
  }

  /**
   * Adds an event.
   *
   * @throws TooMuchWork when the decisions exceed the limit of steps
   */
  add(event: RecordedRow): void {
    const recorded = this.#hasBase ? undefined : (event.policy_decision as Decision);
    if (!this.#hasBase && recorded === undefined) return this.#leaveOut("no_decision");
    const known = this.#judge.of(event);
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
    if (shown.size >= this.#examples) return;
    const what = shortened(event.command ?? event.capability ?? "");
    if (shown.has(what)) return;
    const { decision, rule: id, reason } = now;
    // A document has its texts once, but hundreds of examples would repeat them: a reason of 900,000 characters made 180 MB.
    shown.set(what, {
      ...{ event: exampleOf(event), was, now: decision },
      rule: id && shortened(id),
      reason: reason && shortened(reason),
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

  /** Half of the examples are of each kind, if there are as many: a rare change must not be hidden by a frequent one. */
  #chosenExamples(): readonly Example[] {
    const [denied, allowed] = [
      [...this.#shown.newly_denied.values()],
      [...this.#shown.newly_allowed.values()],
    ];
    const half = Math.ceil(this.#examples / 2);
    const first = denied.slice(0, Math.max(half, this.#examples - allowed.length));
    return [...first, ...allowed.slice(0, this.#examples - first.length)];
  }
}

function countName(counts: Map<string, Changes>, name: string | undefined, kind: Kind): void {
  if (name === undefined || name.length > LONGEST_NAME) return;
  const found = counts.get(name);
  if (found) found[kind]++;
  else if (counts.size < MOST_NAMES) {
    counts.set(ownText(name), { newly_denied: 0, newly_allowed: 0, [kind]: 1 });
  }
}

function topOf(counts: ReadonlyMap<string, Changes>): ReplayCounts["top"]["executors"] {
  const sum = ({ newly_denied, newly_allowed }: Changes): number => newly_denied + newly_allowed;
  return Array.from(counts, ([name, changes]) => ({ name, ...changes }))
    .sort((a, b) => sum(b) - sum(a) || (a.name < b.name ? -1 : 1))
    .slice(0, TOP_NAMES);
}

function exampleOf(event: RecordedRow): Example["event"] {
  const texts = EXAMPLE_FIELDS.flatMap((field) => {
    const value = event[field];
    return value === undefined ? [] : [[field, shortened(value)]];
  });
  return Object.fromEntries(texts) as Example["event"];
}

/** The beginning of a long text, without half a character at its end. */
function shortened(text: string): string {
  if (text.length <= LONGEST_TEXT) return ownText(text);
  return ownText(`${text.slice(0, LONGEST_TEXT).replace(/[\ud800-\udbff]$/, "")}…`);
}
