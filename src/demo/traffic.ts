/**
 * The events of the example company, minute by minute. Seed and time determine everything: a minute
 * always gives the same pieces of work, whether it is two weeks ago or now. So the seeded history
 * and the later reports continue each other.
 */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../core/clock.ts";
import { isAtWork, isWeekend, MEMBERS, workOf, type Member, type Task } from "./company.ts";
import type { DemoCommand, MakeCommand } from "./commands.ts";
import { createRandom, hex, pickOne, type Random } from "./random.ts";

/** A command before it is run; the policy of the machine decides it. */
export interface CommandAttempt extends DemoCommand {
  /** Milliseconds. */
  readonly at: number;
  readonly id: string;
  readonly member: Member;
  readonly runtime: string;
  readonly trace: string;
  /** Whether the piece of work continues after this command was denied; otherwise it ends. */
  readonly perseveres: boolean;
  /** The result of the command if it is allowed. */
  readonly durationMs: number;
  readonly failure: string | undefined;
}

/** A piece of work: its attempts, oldest first. */
export type WorkSession = readonly CommandAttempt[];

/** The longest time from the beginning of a piece of work to its last command. */
export const LONGEST_SESSION_MS = 12 * MINUTE_MS;

const FAILED_SHARE = 0.03;
const PERSEVERING_SHARE = 0.25;
const FAILURES = ["exit status 1", "exit status 2", "timed out after 30 s", "connection refused"];

/** Pieces of work per hour, for each member at work. */
const PACE = { human: 2.2, ai: 4, ci: 2 } as const;
const QUIET = 0.8; // nights and weekends of programs, which never sleep

/** The pieces of work that begin in a minute, counted from the epoch. */
export type SessionsOfMinute = (minute: number) => readonly WorkSession[];

/** Creates the source of all events. */
export function createTraffic(makeCommand: MakeCommand, seed: number): SessionsOfMinute {
  return (minute) => {
    const sessions: WorkSession[] = [];
    for (const [index, member] of MEMBERS.entries()) {
      const random = createRandom(
        Math.imul(minute, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b) ^ seed,
      );
      random(); // the first number still resembles the seed
      if (random() >= chance(member, minute * MINUTE_MS)) continue;
      sessions.push(sessionOf(member, minute, index, random, makeCommand));
    }
    return sessions;
  };
}

/** The probability that a member begins a piece of work within a minute. */
function chance(member: Member, ms: number): number {
  if (!isAtWork(member, ms)) return 0;
  const pace = (PACE[member.consumer] * MINUTE_MS) / HOUR_MS;
  if (member.consumer === "human") return pace;
  const hour = Math.floor(ms / HOUR_MS) % 24;
  const isBusy = !isWeekend(ms) && hour >= 7 && hour < 21;
  return isBusy ? pace * (1 + Math.sin(((hour - 7) / 14) * Math.PI)) : pace * QUIET;
}

function sessionOf(
  member: Member,
  minute: number,
  index: number,
  random: Random,
  makeCommand: MakeCommand,
): WorkSession {
  const { steps, place } = pickWork(workOf(member.craft), random);
  const service = pickOne(member.services, random);
  const runtime = pickOne(member.runtimes, random);
  const trace = hex(32, random);
  let at = minute * MINUTE_MS + Math.floor(random() * MINUTE_MS);
  return steps.map((capability, step) => {
    if (step > 0) at += Math.floor((2 + random() * random() * 88) * SECOND_MS);
    return {
      at,
      id: `${minute.toString(36)}-${index.toString(36)}-${step}-${trace.slice(0, 8)}`,
      member,
      runtime,
      trace,
      perseveres: random() < PERSEVERING_SHARE,
      durationMs: Math.round(40 * Math.exp(7 * random() * random())),
      failure: random() < FAILED_SHARE ? pickOne(FAILURES, random) : undefined,
      ...makeCommand(capability, service, place, random),
    };
  });
}

function pickWork(works: readonly Task[], random: Random): Task {
  const total = works.reduce((sum, { weight }) => sum + weight, 0);
  let left = random() * total;
  for (const work of works) {
    left -= work.weight;
    if (left < 0) return work;
  }
  return pickOne(works, random);
}
