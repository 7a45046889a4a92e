/** The limits on what a policy may change, and the report of a replay in lines. */
import { DAY_MS, HOUR_MS } from "../../core/clock.ts";
import { printable } from "../../core/printable.ts";
import { quantity } from "../../core/quantity.ts";
import { formatTimestamp } from "../../core/time.ts";
import { examine } from "../../policies/examine.ts";
import { byNoRule } from "../../policies/reported-command.ts";
import { policyPublish, type PolicyPublish } from "../../policies/schema.ts";
import { exceededLimit, type PolicyReplayReport } from "../../replay/report.ts";
import { text } from "../arguments.ts";
import { UsageError } from "../command.ts";

/** The options of a guard. */
export const GUARD_OPTIONS = {
  window: text,
  "max-newly-denied": text,
  "max-newly-allowed": text,
} as const;

export const GUARD_HELP = `  --window TIME  how far back events are replayed, such as 12h or 7d (the default)
  --max-newly-denied N, --max-newly-allowed N
                 the most events whose decision may change that way`;

/** A guard as the body of a publish has it, with its window. */
export type Guard = NonNullable<PolicyPublish["guard"]> & { readonly window_hours: number };

type Values = { readonly [name in keyof typeof GUARD_OPTIONS]?: string | undefined };

/**
 * Reads the options of a guard.
 *
 * @throws UsageError naming the option that is invalid
 */
export function guardOf(values: Values): Guard {
  const denied = limitOf("max-newly-denied", values);
  const allowed = limitOf("max-newly-allowed", values);
  return {
    window_hours: hoursOf(values.window),
    ...(denied !== undefined && { max_newly_denied: denied }),
    ...(allowed !== undefined && { max_newly_allowed: allowed }),
  };
}

function limitOf(name: keyof Values, values: Values): number | undefined {
  const given = values[name];
  if (given === undefined) return undefined;
  if (/^\d{1,9}$/.test(given)) return Number(given);
  throw new UsageError(`--${name}: expected a number of events instead of "${given}"`);
}

function hoursOf(given: string | undefined): number {
  const {
    minimum,
    maximum,
    default: usual,
  } = policyPublish.properties.guard.properties.window_hours;
  if (given === undefined) return usual;
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(given) ?? [];
  const hours = (Number(count) * (unit === "d" ? DAY_MS : HOUR_MS)) / HOUR_MS;
  if (hours >= minimum && hours <= maximum) return hours;
  throw new UsageError(`--window: expected a time such as 12h or 7d instead of "${given}"`);
}

/** The time at which the window of a guard begins. */
export function beginningOf({ window_hours: hours }: Guard, now: number): string {
  return formatTimestamp(now - hours * HOUR_MS);
}

/** The first limit that a replay exceeds, in words, with the way out; `undefined` if it exceeds none. */
export function excessOf(
  report: PolicyReplayReport,
  guard: NonNullable<PolicyPublish["guard"]>,
): string | undefined {
  const exceeded = exceededLimit(report, guard);
  if (exceeded === undefined) return undefined;
  const { word, events, limit } = exceeded;
  return `${quantity(events, "event")} would be newly ${word}, expected at most ${limit}: change the rules, or raise --max-newly-${word}`;
}

/** A report as lines: the counts, the rules behind the changes with their places, and examples. */
export function replayLines(file: string, yaml: string, report: PolicyReplayReport): string {
  const { ruled } = examine({ yaml, command: undefined, commands: [] });
  const placeOf = (id: string | null): string => {
    const line = ruled?.rules.find((rule) => rule.id === id)?.line;
    return line === undefined ? file : `${file}:${line}`;
  };
  const changing = report.rules.filter((rule) => rule.newly_denied + rule.newly_allowed > 0);
  const lines = [
    `${quantity(report.evaluated, "event")} replayed: ${changesOf(report)}`,
    ...report.not_replayable.map(
      ({ reason, events }) => `${quantity(events, "event")} not replayed: ${reason}`,
    ),
    ...changing.map((rule) => `${placeOf(rule.id)}: ${nameOf(rule.id)}: ${changesOf(rule)}`),
    ...report.examples.map(({ event, now, rule }) => {
      const { executor, capability = "", command = capability } = event;
      const by = executor === undefined ? "" : `, run by ${executor}`;
      const change = now === "DENIED" ? "newly denied" : "newly allowed";
      const decider = rule === null ? byNoRule(event.command) : `by ${nameOf(rule)}`;
      return `${change} ${decider}: ${command}${by}`;
    }),
  ];
  return lines.map((line) => `${printable(line)}\n`).join("");
}

function changesOf(counts: {
  readonly newly_denied: number;
  readonly newly_allowed: number;
}): string {
  return `${counts.newly_denied} newly denied, ${counts.newly_allowed} newly allowed`;
}

function nameOf(rule: string | null): string {
  return rule === null ? "the default" : `rule ${rule}`;
}
