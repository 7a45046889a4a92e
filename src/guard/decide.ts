/** Decides an attempt by the policy on this machine, and makes the event that reports it. */
import type { Clock } from "../core/clock.ts";
import { formatTimestamp } from "../core/time.ts";
import { evaluate, type Verdict } from "../policies/evaluate.ts";
import { GUARD_VERSION, SEVERAL } from "../policies/reported-command.ts";
import type { PolicyDocument } from "../policies/rules.ts";
import { StepBudget, TooMuchWork } from "../policies/step-budget.ts";
import type { Attempt } from "./attempt.ts";
import { fitted } from "./fitted.ts";
import type { GuardPolicy } from "./policy-file.ts";
import type { GuardSettings } from "./settings.ts";
import type { SpooledEvent } from "./spool.ts";

/** The context of a guard's decisions and events. */
export interface GuardContext {
  readonly settings: GuardSettings;
  /** The user of the operating system. */
  readonly user: string;
  /** The version of the guard. */
  readonly version: string;
  readonly clock: Clock;
  /** When the guard started, in milliseconds since 1970. */
  readonly now: number;
}

/** The decision on an attempt, with the event that reports it. */
export interface Ruling {
  /** The reason why the attempt must not run; absent if it may run. */
  readonly refusal?: string;
  /** The reason why the attempt could not be decided and may run; absent if it was decided. */
  readonly undecided?: string;
  readonly event: SpooledEvent;
}

/** Some tenths of a second. A text that takes more is denied: otherwise a long text could evade the policy. */
const DECISION_STEPS = 50_000_000;
const LONGEST_ID = 128;

/** Decides an attempt that is about to run, or only reports an attempt that has run. */
export function decide(
  attempt: Attempt,
  policy: GuardPolicy | string,
  context: GuardContext,
): Ruling {
  const { settings } = context;
  if (attempt.kind === "after") {
    const status = attempt.succeeded === false ? "failed" : "succeeded";
    return { event: eventOf(attempt, context, { status, duration_ms: attempt.durationMs }) };
  }
  if (typeof policy === "string") return undecided(attempt, policy, context);
  const { version, document } = policy;
  const observes = settings.observes || document?.mode === "observe";
  let verdict: Verdict | undefined;
  try {
    verdict = verdictOn(attempt, document, context);
  } catch (error) {
    return undecided(attempt, `the guard failed: ${(error as Error).message}`, context);
  }
  if (!verdict)
    return { event: eventOf(attempt, context, { policy: version, status: "reported" }) };
  const by = verdict.rule === null ? undefined : `rule ${verdict.rule}`;
  const reason = [by, verdict.reason ?? undefined].filter((part) => part !== undefined).join(": ");
  const { decision } = verdict;
  const observed = observes ? { policy_decision: "ALLOWED", observed_decision: decision } : {};
  const decided = { policy_decision: decision, policy: version, reason, ...observed };
  if (decision === "ALLOWED") return { event: eventOf(attempt, context, decided) };
  const refusal = reason || noRuleFor(verdict);
  const denied = { ...decided, reason: refusal };
  return observes
    ? { event: eventOf(attempt, context, { ...denied, status: "would-be-denied" }) }
    : { refusal, event: eventOf(attempt, context, denied) };
}

/** Why no rule allows a command. Who knows what is in the way can write the command in another way. */
function noRuleFor({ doubt, program }: Verdict): string {
  if (doubt !== undefined) {
    return `rules allow only shell texts that can be split, and this one cannot because of ${doubt}`;
  }
  const what = program === undefined ? "this" : `this use of ${program}`;
  return `no rule of the policy allows ${what}`;
}

/** The outcome for an attempt that cannot be decided, or for a payload that cannot be read. */
export function undecided(
  attempt: Pick<Attempt, "transport" | "consumer"> & Partial<Attempt>,
  why: string,
  context: GuardContext,
): Ruling {
  const { failsClosed, observes } = context.settings;
  const reason = `not decided: ${why}`;
  if (!failsClosed || observes || attempt.kind === "after") {
    return { undecided: why, event: eventOf(attempt, context, { status: "undecided", reason }) };
  }
  return {
    refusal: reason,
    event: eventOf(attempt, context, { policy_decision: "DENIED", reason }),
  };
}

/** An event about the guard itself. */
export function noteOf(message: string, context: GuardContext): SpooledEvent {
  return eventOf({ transport: "guard", consumer: "ci" }, context, { status: "note", message });
}

/** The verdict; `undefined` for a tool that runs no command if no rule matches it. */
function verdictOn(
  attempt: Attempt,
  document: PolicyDocument | undefined,
  { user }: GuardContext,
): Verdict | undefined {
  if (!document) throw new Error("the policy has no document");
  const { command, argv, provider, capability, consumer, instead = [] } = attempt;
  const executor = attempt.executor ?? user;
  const facts = { argv, provider, capability, consumer, executor };
  const work = new StepBudget(DECISION_STEPS);
  let verdict: Verdict | undefined;
  try {
    for (const text of [command, ...instead]) {
      for (const resource of [attempt.resource, ...(attempt.otherResources ?? [])]) {
        if (verdict?.decision === "DENIED") break;
        verdict = evaluate(document, { command: text, resource, ...facts }, work);
      }
    }
    return command === undefined && verdict?.rule === null ? undefined : verdict;
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    return { decision: "DENIED", rule: null, reason: "this takes too long to decide" };
  }
}

function eventOf(
  attempt: Partial<Attempt> & Pick<Attempt, "transport" | "consumer">,
  { settings, user, version, clock, now }: GuardContext,
  outcome: Readonly<Record<string, unknown>>,
): SpooledEvent {
  const event = {
    id: idOf(attempt, now),
    timestamp: formatTimestamp(now),
    command: reported(attempt.command, attempt.instead),
    executor: attempt.executor ?? user,
    consumer: attempt.consumer,
    provider: attempt.provider,
    capability: attempt.capability,
    resource: reported(attempt.resource, attempt.otherResources),
    ...outcome,
    runtime_name: settings.name,
    runtime_version: GUARD_VERSION + version,
    runtime_context: attempt.context,
    trace_id: attempt.session,
    transport: attempt.transport,
  };
  return fitted(event, clock);
}

/** A text and those that may count in its place: each of them was decided. */
function reported(text: string | undefined, others: readonly string[] = []): string | undefined {
  return text === undefined ? undefined : [text, ...others].join(SEVERAL);
}

/** The event's id. A repeated report of the same tool use gets the same id, so that the service stores it once. */
function idOf({ transport, session, call, kind }: Partial<Attempt>, now: number): string {
  const named = [transport, session, call, kind].join(":");
  if (session !== undefined && call !== undefined && /^[!-~]+$/.test(named)) {
    if (named.length <= LONGEST_ID) return named;
  }
  const random = (): string => Math.random().toString(36).slice(2, 12);
  return `guard-${now.toString(36)}-${process.pid}-${random()}${random()}`;
}
