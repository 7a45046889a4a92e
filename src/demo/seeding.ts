/** Fills an empty organization with the example company: its policy, its fleet, two weeks of audit. */
import type { ActivityStore } from "../activity/store.ts";
import { ingestEvent } from "../audit/ingest.ts";
import type { AuditEvent } from "../audit/schema.ts";
import type { AuditStore } from "../audit/store.ts";
import { DAY_MS, MINUTE_MS } from "../core/clock.ts";
import { formatTimestamp } from "../core/time.ts";
import { storeReport, type FleetStore } from "../fleet/store.ts";
import { draftPolicy } from "../policies/draft.ts";
import type { PolicyStore } from "../policies/store.ts";
import { isAtWork, MACHINES, MEMBERS, type DemoMachine } from "./company.ts";
import { policyCopies, policyHistory, POLICY_TEXTS, type PolicyChange } from "./policy-history.ts";
import {
  heartbeatOf,
  numberOf,
  rememberingDecide,
  run,
  versionAt,
  type DemoReport,
} from "./runtime.ts";
import type { SessionsOfMinute } from "./traffic.ts";

/** The stores of the example company. */
export interface SeededStores {
  readonly policies: PolicyStore;
  readonly fleet: FleetStore;
  readonly audit: AuditStore;
  readonly activity: ActivityStore;
}

/** The parameters of a seeding. */
export interface Seed {
  readonly organization: string;
  /** The end of the history, in milliseconds. */
  readonly now: number;
  readonly traffic: SessionsOfMinute;
}

const BATCH_EVENTS = 2_000;
const INGEST_DELAY_MS = 400;
const LATEST_BEAT_MS = 50_000;

/** Seeds an empty organization through its stores. */
export async function seedDemo(stores: SeededStores, seed: Seed): Promise<void> {
  const history = policyHistory(seed.now);
  await seedPolicies(stores, seed.organization, history);
  await seedAudit(stores.audit, seed, history);
  await seedFleet(stores.fleet, seed, history);
}

async function seedPolicies(
  { policies, activity }: SeededStores,
  organization: string,
  history: readonly PolicyChange[],
): Promise<void> {
  let before = "";
  for (const { at, version, by, description } of history) {
    if (description === undefined) {
      await policies.activate(organization, version, formatTimestamp(at), by);
    } else {
      const given = { yaml: POLICY_TEXTS.get(version) ?? "", version, description, updated_by: by };
      await policies.publish(organization, draftPolicy(given, at, undefined));
    }
    const isPublished = description !== undefined;
    await activity.append(organization, {
      id: `demo-${at.toString(36)}`,
      organization_id: organization,
      timestamp: formatTimestamp(at),
      actor: { kind: "user", id: by.slice(0, by.indexOf("@")), email: by },
      request_id: `demo-${at.toString(36)}`,
      surface: "v1",
      action: isPublished ? "policy.publish" : "policy.activate",
      target: { type: "policy", id: version },
      before: { active: before },
      after: isPublished ? { active: version, description } : { active: version },
      outcome: "done",
    });
    before = version;
  }
}

/** Seeds day by day, so that other work can run in between. */
async function seedAudit(
  audit: AuditStore,
  { organization, now, traffic }: Seed,
  history: readonly PolicyChange[],
): Promise<void> {
  const copyOfVersion = policyCopies();
  const copyOf = (machine: string, at: number) => copyOfVersion(versionAt(history, machine, at));
  const decide = rememberingDecide();
  const start = history[0]?.at ?? now;
  let waiting: readonly DemoReport[] = [];
  for (let from = start; from <= now; from += DAY_MS) {
    const until = Math.min(from + DAY_MS, now + 1);
    const found = [...waiting];
    for (let minute = Math.ceil(from / MINUTE_MS); minute * MINUTE_MS < until; minute++) {
      for (const session of traffic(minute)) found.push(...run(session, copyOf, decide));
    }
    const due = found.filter(({ at }) => at < until).sort((a, b) => a.at - b.at);
    waiting = found.filter(({ at }) => at >= until);
    for (let first = 0; first < due.length; first += BATCH_EVENTS) {
      const batch = due.slice(first, first + BATCH_EVENTS);
      await append(
        audit,
        organization,
        batch.map((report) =>
          eventOf(report, organization, Math.min(report.at + INGEST_DELAY_MS, now)),
        ),
      );
    }
  }
}

/** Makes the stored event of a report that arrives at a moment, by the rules of ingest. */
export function eventOf({ body }: DemoReport, organization: string, arrived: number): AuditEvent {
  const ids = (): never => {
    throw new Error("A report of the demo has an id");
  };
  return ingestEvent(body, "", { organization, now: arrived, ids });
}

/** Stores events, and resolves when they are stored. */
export function append(
  audit: Pick<AuditStore, "append">,
  organization: string,
  events: readonly AuditEvent[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    audit.append(organization, events, (error) => (error ? reject(error as Error) : resolve()));
  });
}

async function seedFleet(
  fleet: FleetStore,
  { organization, now }: Seed,
  history: readonly PolicyChange[],
): Promise<void> {
  const seen = MACHINES.map((machine) => ({ machine, at: lastBeat(machine, now) }));
  for (const { machine, at } of seen.sort((a, b) => a.at - b.at)) {
    const heartbeat = heartbeatOf(machine, versionAt(history, machine.name, at));
    await storeReport(fleet, organization, heartbeat, at);
  }
}

/** Whether anyone works on a machine at a moment. */
export function isInUse(machine: DemoMachine, at: number): boolean {
  if (machine.silentDays !== undefined) return false;
  return MEMBERS.some((member) => member.runtimes.includes(machine.name) && isAtWork(member, at));
}

function lastBeat(machine: DemoMachine, now: number): number {
  if (machine.silentDays !== undefined) return now - Math.round(machine.silentDays * DAY_MS);
  let at = now - ((numberOf(machine.name) * 977) % LATEST_BEAT_MS);
  while (!isInUse(machine, at)) at -= 10 * MINUTE_MS;
  return at;
}
