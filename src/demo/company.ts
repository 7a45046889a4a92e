/** The example company: its people, agents and pipelines, their machines, and the work that they do. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { DAY_MS, HOUR_MS } from "../core/clock.ts";
import type { Labels } from "../core/labels.ts";
import { ROOT } from "../core/root.ts";

/** A kind of work. */
export type Craft =
  | "application"
  | "platform"
  | "data"
  | "security"
  | "reviewing"
  | "incidents"
  | "costs"
  | "deploy";

/** The place of a piece of work: an environment, or a service's repository. */
export type WorkPlace = "prod" | "staging" | "repository";

/** A piece of work. */
export interface Task {
  readonly crafts: readonly Craft[];
  readonly place: WorkPlace;
  /** The frequency of the work, relative to other work of the same craft. */
  readonly weight: number;
  /** Ids of capabilities. */
  readonly steps: readonly string[];
}

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
export interface DemoMachine {
  readonly name: string;
  readonly hostname: string;
  readonly os: string;
  readonly version: string;
  readonly labels: Labels;
  /**
   * The number of policy changes that the machine received; all if absent. With fewer, it no longer
   * fetches the policy, and keeps its copy.
   */
  readonly heardChanges?: number;
  /** The days since its last report; absent for a machine in use. */
  readonly silentDays?: number;
}

/** A change of the policy: a number of working days ago, at a time of day in UTC. */
export interface ToldChange {
  readonly version: string;
  /** An email. */
  readonly by: string;
  readonly workdaysAgo: number;
  readonly time: readonly [hours: number, minutes: number];
  /** The reason for publishing; absent if an earlier version was activated again. */
  readonly description?: string;
}

interface Company {
  readonly people: readonly (Pick<Member, "craft" | "services" | "utcOffset" | "isOnCall"> & {
    readonly name: string;
  })[];
  readonly agents: readonly (Pick<Member, "craft" | "services"> & { readonly hosts: number })[];
  readonly pipelines: readonly string[];
  readonly runners: readonly string[];
  readonly labels: Readonly<Record<string, Labels>>;
  readonly peculiar: Readonly<Record<string, Partial<DemoMachine>>>;
  readonly gone: Readonly<Record<string, Partial<DemoMachine>>>;
  readonly policyChanges: readonly ToldChange[];
  readonly work: readonly Task[];
}

/** Reads a file of the demo, which ships beside the catalog. */
export function readDemoFile(name: string): string {
  return readFileSync(new URL(`../catalog/demo/${name}`, ROOT), "utf8");
}

const company = parse(readDemoFile("company.yaml")) as Company;

/** All members who run commands. */
export const MEMBERS: readonly Member[] = [
  ...company.people.map(({ name, ...person }) => ({
    ...person,
    executor: `${name}@example.com`,
    consumer: "human" as const,
    runtimes: [`laptop-${name.slice(0, name.indexOf("."))}`],
  })),
  ...company.agents.map(({ hosts, ...agent }) => ({
    ...agent,
    executor: `agent-${agent.craft}`,
    consumer: "ai" as const,
    runtimes: Array.from({ length: hosts }, (_, i) => `agent-${agent.craft}-${i + 1}`),
  })),
  ...company.pipelines.map((service) => ({
    executor: `pipeline-${service}`,
    consumer: "ci" as const,
    craft: "deploy" as const,
    services: [service],
    runtimes: company.runners.map((runner) => `runner-${runner}`),
  })),
];

const LAPTOPS = ["macOS 26.1", "Ubuntu 26.04", "Windows 11"];
const NEWEST = "1.8.2";
const LABELS = Object.entries(company.labels);

function machineOf(name: string, index: number): DemoMachine {
  const laptop = name.startsWith("laptop-") ? LAPTOPS[index % LAPTOPS.length] : undefined;
  const os = laptop ?? "Debian GNU/Linux 13";
  const [, labels = {}] = LABELS.find(([beginning]) => name.startsWith(beginning)) ?? [];
  return { name, hostname: `${name}.example.net`, os, version: NEWEST, labels };
}

/** All machines of the fleet. */
export const MACHINES: readonly DemoMachine[] = [
  ...[...new Set(MEMBERS.flatMap(({ runtimes }) => runtimes))].map((name, index) => ({
    ...machineOf(name, index),
    ...company.peculiar[name],
  })),
  ...Object.entries(company.gone).map(([name, machine], index) => ({
    ...machineOf(name, index),
    ...machine,
  })),
];

/** The changes of the example policy, oldest first. */
export const POLICY_CHANGES = company.policyChanges;

/** The work of a craft. */
export function workOf(craft: Craft): readonly Task[] {
  return company.work.filter(({ crafts }) => crafts.includes(craft));
}

const FIRST_HOUR = 8;
const LAST_HOUR = 18;

/** Whether a member is at work: people from 8 to 18 local time, on weekends only those on call. */
export function isAtWork({ utcOffset, isOnCall }: Member, ms: number): boolean {
  if (utcOffset === undefined) return true;
  const there = ms + utcOffset * HOUR_MS;
  const hour = (there % DAY_MS) / HOUR_MS;
  return hour >= FIRST_HOUR && hour < LAST_HOUR && (isOnCall === true || !isWeekend(there));
}

/** Whether a moment is on a Saturday or Sunday in UTC. */
export function isWeekend(ms: number): boolean {
  const day = Math.floor(ms / DAY_MS) % 7; // the epoch began on a Thursday
  return day === 2 || day === 3;
}
