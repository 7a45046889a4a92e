/**
 * The life of the example company after it was seeded. Its machines continue to report, and fetch the policy that is
 * assigned to them like real runtimes: a policy that a visitor publishes or rolls out is fetched within a minute, and
 * then decides the commands. A machine keeps its copy if the policy has another schema.
 */
import type { AuditStore } from "../audit/store.ts";
import type { Awaitable } from "../core/caller.ts";
import { MINUTE_MS, SECOND_MS, type Clock } from "../core/clock.ts";
import { setNewest } from "../core/set-newest.ts";
import { storeReport, type FleetStore } from "../fleet/store.ts";
import { readDocument } from "../policies/check.ts";
import type { Policy } from "../policies/schema.ts";
import type { PolicyStore } from "../policies/store.ts";
import { MACHINES, type DemoMachine } from "./company.ts";
import { policyCopies, policyHistory, type PolicyCopy } from "./policy-history.ts";
import { heartbeatOf, numberOf, run, versionAt } from "./runtime.ts";
import { append, eventOf, isInUse } from "./seeding.ts";
import { LONGEST_SESSION_MS, type SessionsOfMinute } from "./traffic.ts";

/** The versions of open rollouts. */
export interface Candidates {
  /** The policy that a runtime gets instead of the active one, which is recorded as fetched. */
  candidate(organization: string, runtime: string): Awaitable<Policy | undefined>;
}

/** The stores and the clock of the pulse. */
export interface PulseParts {
  readonly organization: string;
  readonly assignments: Candidates;
  readonly policies: Pick<PolicyStore, "active">;
  readonly fleet: Pick<FleetStore, "heartbeat">;
  readonly audit: Pick<AuditStore, "append">;
  readonly traffic: SessionsOfMinute;
  readonly now: Clock;
  /** The time of the seeding, in milliseconds. */
  readonly seededAt: number;
}

/** After a longer pause, for example of a machine that slept, only this much is reported. */
const LONGEST_GAP_MS = 10 * MINUTE_MS;
/** The documents that are kept: the active one, that of a rollout, and the one before. */
const KEPT_DOCUMENTS = 3;

/** Reports the events since the last beat. */
export class Pulse {
  readonly #parts: PulseParts;
  /** The policy copy by which each machine decides. */
  readonly #copies: Map<string, PolicyCopy>;
  /** The fetched policies by their versions, which never change; `undefined` for one that cannot be read. */
  readonly #documents = new Map<string, PolicyCopy | undefined>();
  #reportedUntil: number;

  constructor(parts: PulseParts) {
    const copyOfVersion = policyCopies();
    const history = policyHistory(parts.seededAt);
    this.#parts = parts;
    this.#copies = new Map(
      MACHINES.map(({ name }) => [name, copyOfVersion(versionAt(history, name, parts.seededAt))]),
    );
    this.#reportedUntil = parts.now();
  }

  /** Sends the due reports and heartbeats, and resolves when they are stored. */
  async beat(): Promise<void> {
    const now = this.#parts.now();
    const from = Math.max(this.#reportedUntil, now - LONGEST_GAP_MS);
    this.#reportedUntil = now;
    await this.#sendSignsOfLife(from, now);
    await this.#sendReports(from, now);
  }

  /** Fetches the policy of a machine, which keeps its copy if there is none that it can read. */
  async #fetchPolicy(machine: string): Promise<void> {
    const { assignments, policies, organization } = this.#parts;
    const policy =
      (await assignments.candidate(organization, machine)) ?? (await policies.active(organization));
    const copy = policy && (await this.#read(policy));
    if (copy) this.#copies.set(machine, copy);
  }

  async #read({ version, yaml }: Policy): Promise<PolicyCopy | undefined> {
    if (this.#documents.has(version)) return this.#documents.get(version);
    const document = await readDocument({ party: ["demo"] }, yaml);
    const copy = document && { version, document };
    setNewest(this.#documents, version, copy, KEPT_DOCUMENTS);
    return copy;
  }

  async #sendSignsOfLife(from: number, now: number): Promise<void> {
    const { fleet, organization } = this.#parts;
    for (const machine of MACHINES) {
      if (!isInUse(machine, now) || !isBeatDue(machine, from, now)) continue;
      const { name, heardChanges } = machine;
      if (heardChanges === undefined) await this.#fetchPolicy(name);
      await storeReport(fleet, organization, heartbeatOf(machine, this.#copyOf(name).version), now);
    }
  }

  async #sendReports(from: number, now: number): Promise<void> {
    const { audit, organization, traffic } = this.#parts;
    const copyOf = (name: string): PolicyCopy => this.#copyOf(name);
    const first = Math.floor((from - LONGEST_SESSION_MS) / MINUTE_MS);
    const due = [];
    for (let minute = first; minute * MINUTE_MS <= now; minute++) {
      for (const session of traffic(minute)) {
        due.push(...run(session, copyOf).filter(({ at }) => at > from && at <= now));
      }
    }
    if (due.length === 0) return;
    due.sort((a, b) => a.at - b.at);
    const events = due.map((report) => eventOf(report, organization, now));
    await append(audit, organization, events);
  }

  #copyOf(machine: string): PolicyCopy {
    return this.#copies.get(machine) as PolicyCopy; // each machine has one from the start
  }
}

/** Whether a machine's heartbeat is due: one a minute, at a fixed second for each machine. */
function isBeatDue({ name }: DemoMachine, from: number, now: number): boolean {
  const own = (numberOf(name) % 60) * SECOND_MS;
  return Math.floor((now - own) / MINUTE_MS) > Math.floor((from - own) / MINUTE_MS);
}
