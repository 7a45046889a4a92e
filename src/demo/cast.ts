/** The people, agents and pipelines of the example company, and their machines. */
import { DAY_MS, HOUR_MS } from "../core/clock.ts";
import { isWeekend } from "./policy-history.ts";

/** A kind of work; `work.ts` has its commands. */
export type Craft =
  "application" | "platform" | "data" | "security" | "reviewing" | "incidents" | "costs" | "deploy";

/** A person or a program that runs commands. */
export interface Member {
  readonly executor: string;
  readonly consumer: "human" | "ai" | "ci";
  readonly craft: Craft;
  /** The services that they maintain. */
  readonly services: readonly string[];
  /** The names of their machines. */
  readonly runtimes: readonly string[];
  /** Hours from UTC; `undefined` for programs, which never sleep. */
  readonly utcOffset?: number;
  /** Whether they work on weekends too. */
  readonly isOnCall?: true;
}

/** A machine with a runtime on it. */
export interface Machine {
  readonly name: string;
  readonly hostname: string;
  readonly os: string;
  readonly version: string;
  /**
   * The number of policy changes that the machine received; all if absent. With fewer, it no longer
   * fetches the policy, and keeps its copy.
   */
  readonly heardChanges?: number;
  /** The days since its last report; absent for a machine in use. */
  readonly silentDays?: number;
}

const human = (
  name: string,
  craft: Craft,
  utcOffset: number,
  services: readonly string[],
  more: { readonly isOnCall?: true } = {},
): Member => ({
  executor: `${name}@example.com`,
  consumer: "human",
  craft,
  services,
  utcOffset,
  runtimes: [`laptop-${name.split(".")[0] ?? name}`],
  ...more,
});

const agent = (craft: Craft, services: readonly string[], hosts: number): Member => ({
  executor: `agent-${craft}`,
  consumer: "ai",
  craft,
  services,
  runtimes: Array.from({ length: hosts }, (_, i) => `agent-${craft}-${i + 1}`),
});

const RUNNERS = ["eu-1", "eu-2", "eu-3", "eu-4", "us-1", "us-2", "us-3"].map((n) => `runner-${n}`);

const pipeline = (service: string): Member => ({
  executor: `pipeline-${service}`,
  consumer: "ci",
  craft: "deploy",
  services: [service],
  runtimes: RUNNERS,
});

/** All members who run commands. */
export const MEMBERS: readonly Member[] = [
  human("ada.moreau", "platform", 1, ["gateway", "checkout"]),
  human("jonas.weber", "application", 1, ["checkout", "orders"]),
  human("sofia.rossi", "application", 1, ["storefront"]),
  human("emma.larsen", "security", 1, ["identity", "gateway"]),
  human("tomas.silva", "platform", 0, ["orders", "search"]),
  human("liam.oconnor", "platform", 0, ["checkout", "gateway"], { isOnCall: true }),
  human("priya.nair", "data", 5, ["reports", "search"]),
  human("nikhil.rao", "application", 5, ["search"]),
  human("mei.tanaka", "application", 9, ["storefront", "identity"], { isOnCall: true }),
  human("olivia.reed", "application", -5, ["orders", "checkout"]),
  human("carlos.mendes", "data", -3, ["reports"]),
  human("hannah.kim", "platform", -8, ["gateway", "search"], { isOnCall: true }),
  agent("reviewing", ["checkout", "storefront", "orders", "search", "identity"], 3),
  agent("incidents", ["checkout", "gateway", "orders", "search"], 2),
  agent("costs", ["reports", "search", "storefront"], 1),
  ...["checkout", "storefront", "orders", "search", "gateway", "reports"].map(pipeline),
];

const LAPTOPS = ["macOS 26.1", "Ubuntu 26.04", "Windows 11"];
const NEWEST = "1.8.2";

function machineOf(name: string, index: number): Machine {
  const [kind = ""] = name.split("-");
  const os =
    kind === "laptop" ? (LAPTOPS[index % LAPTOPS.length] ?? "macOS 26.1") : "Debian GNU/Linux 13";
  return { name, hostname: `${name}.example.net`, os, version: NEWEST };
}

/** The peculiarities of single machines, which make the list worth reading. */
const PECULIAR: Readonly<Record<string, Partial<Machine>>> = {
  "runner-us-3": { heardChanges: 4, version: "1.6.0", os: "Debian GNU/Linux 11" },
  "laptop-carlos": { heardChanges: 6, version: "1.7.4" },
  "agent-costs-1": { heardChanges: 7, version: "1.8.0" },
  "laptop-tomas": { version: "1.8.1" },
  "runner-eu-4": { version: "1.8.1" },
};

/** Machines that are no longer used, or not at present. */
const GONE: readonly Machine[] = [
  { ...machineOf("runner-eu-0", 0), silentDays: 11.3, version: "1.6.0" },
  { ...machineOf("laptop-robin", 1), silentDays: 6.4, version: "1.7.4" },
  { ...machineOf("agent-migration-1", 0), silentDays: 2.6, version: "1.8.1" },
  { ...machineOf("bastion-eu", 0), silentDays: 0.42 },
  { ...machineOf("bastion-us", 0), silentDays: 3.2, heardChanges: 5 },
  { ...machineOf("workstation-lab", 2), silentDays: 0.17, version: "1.8.0" },
];

/** All machines of the fleet. */
export const MACHINES: readonly Machine[] = [
  ...[...new Set(MEMBERS.flatMap(({ runtimes }) => runtimes))].map((name, index) => ({
    ...machineOf(name, index),
    ...PECULIAR[name],
  })),
  ...GONE,
];

const FIRST_HOUR = 8;
const LAST_HOUR = 18;

/** Whether a member is at work: people from 8 to 18 local time, on weekends only those on call. */
export function isAtWork({ utcOffset, isOnCall }: Member, ms: number): boolean {
  if (utcOffset === undefined) return true;
  const there = ms + utcOffset * HOUR_MS;
  const hour = (there % DAY_MS) / HOUR_MS;
  return hour >= FIRST_HOUR && hour < LAST_HOUR && (isOnCall === true || !isWeekend(there));
}
