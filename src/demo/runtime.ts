/** The behaviour of a runtime: it decides each command by its copy of the policy. */
import { MINUTE_MS } from "../core/clock.ts";
import { formatTimestamp } from "../core/time.ts";
import { evaluate, type Verdict } from "../policies/evaluate.ts";
import type { PolicyDocument } from "../policies/rules.ts";
import { TooMuchWork, StepBudget } from "../policies/step-budget.ts";
import type { Heartbeat } from "../fleet/schema.ts";
import { MACHINES, type DemoMachine } from "./company.ts";
import type { PolicyChange, PolicyCopy } from "./policy-history.ts";
import type { CommandAttempt, WorkSession } from "./traffic.ts";

/** The copy of a machine at a moment. */
export type CopyOf = (machine: string, at: number) => PolicyCopy;

/** An event in the form that a runtime sends, with the moment of sending. */
export interface DemoReport {
  readonly at: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The runtime's reason for a command that no rule matches. */
export const NO_RULE = "No rule of the policy allows this command";

const REFUSED_MS = 3;
const CONTEXTS = { human: "shell", ai: "session", ci: "pipeline" } as const;
const SLOWEST_SYNC_MINUTES = 10;

const machines = new Map(MACHINES.map((machine) => [machine.name, machine]));
const delays = new Map(MACHINES.map(({ name }) => [name, delayOf(name)]));

/** Runs a piece of work, and returns its reports in order; a denied command ends it. */
export function run(
  session: WorkSession,
  copyOf: CopyOf,
  decideBy: DecideAttempt = decide,
): readonly DemoReport[] {
  const reports: DemoReport[] = [];
  for (const attempt of session) {
    const { version, document } = copyOf(attempt.runtime, attempt.at);
    const verdict = decideBy(document, attempt);
    reports.push(reportOf(attempt, version, verdict));
    if (verdict.decision === "DENIED" && !attempt.perseveres) break;
  }
  return reports;
}

/** Decides an attempt by a document. */
export type DecideAttempt = (document: PolicyDocument, attempt: CommandAttempt) => Verdict;

/** The most steps for a command: a visitor's policy could take more. A runtime then denies the command. */
const DECISION_STEPS = 500_000;
const TOO_COSTLY: Verdict = {
  decision: "DENIED",
  rule: null,
  reason: "The policy takes too long to decide this command",
};

const decide: DecideAttempt = (document, attempt) => {
  const { command, provider, capability, resource, member } = attempt;
  const { consumer, executor } = member;
  const facts = { command, provider, capability, resource, consumer, executor };
  try {
    return evaluate(document, facts, new StepBudget(DECISION_STEPS));
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    return TOO_COSTLY;
  }
};

/** Caches decisions, so that equal attempts are decided once. For a seeding, since the cache is unbounded. */
export function rememberingDecide(): DecideAttempt {
  const verdicts = new Map<PolicyDocument, Map<string, Verdict>>();
  return (document, attempt) => {
    let known = verdicts.get(document);
    if (!known) verdicts.set(document, (known = new Map()));
    const { command, capability, resource, member } = attempt;
    const key = [capability, resource, member.executor, command].join("\n");
    let verdict = known.get(key);
    if (!verdict) known.set(key, (verdict = decide(document, attempt)));
    return verdict;
  };
}

function reportOf(attempt: CommandAttempt, policy: string, verdict: Verdict): DemoReport {
  const { at, id, command, provider, capability, resource, member, runtime, trace } = attempt;
  const isDenied = verdict.decision === "DENIED";
  const failure = isDenied ? undefined : attempt.failure;
  const body = {
    id,
    timestamp: formatTimestamp(at),
    command,
    executor: member.executor,
    consumer: member.consumer,
    provider,
    capability,
    resource,
    policy_decision: verdict.decision,
    policy,
    reason: isDenied ? (verdict.reason ?? NO_RULE) : undefined,
    status: failure === undefined ? undefined : "failed",
    message: failure,
    duration_ms: isDenied ? REFUSED_MS : attempt.durationMs,
    runtime_name: runtime,
    runtime_version: machines.get(runtime)?.version,
    runtime_context: CONTEXTS[member.consumer],
    trace_id: trace,
    transport: "https",
  };
  return { at, body };
}

/** The heartbeat of a machine that runs a policy version. */
export function heartbeatOf(machine: DemoMachine, policyVersion: string): Heartbeat {
  const { name, hostname, os, version, labels } = machine;
  return { name, hostname, os, version, labels, policy_version: policyVersion };
}

/** The delay after which a machine fetches a change: fixed for each machine, at most ten minutes. */
function delayOf(machine: string): number {
  return (numberOf(machine) % SLOWEST_SYNC_MINUTES) * MINUTE_MS;
}

/** A number derived from a name, by which machines differ in their timing. */
export function numberOf(name: string): number {
  return [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
}

/** The version of a machine at a moment of the example history; the first version before the first change. */
export function versionAt(history: readonly PolicyChange[], machine: string, at: number): string {
  const heard = history.slice(0, machines.get(machine)?.heardChanges ?? history.length);
  const fetched = at - (delays.get(machine) ?? 0);
  const last = heard.findLast((change) => change.at <= fetched) ?? heard[0];
  if (last === undefined) throw new Error("The example policy has no history");
  return last.version;
}
