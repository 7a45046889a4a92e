/**
 * Judges the current stage of a rollout: a pure function of its figures and the time. A gate with too few reports
 * waits and says so; silence never passes a gate.
 */
import { MINUTE_MS } from "../core/clock.ts";
import { quantity } from "../core/quantity.ts";
import { formatTimestamp } from "../core/time.ts";
import { ONLINE_MS } from "../fleet/status.ts";
import type { Decided, RolloutJudgement, Rollout, RolloutGates, StageFigures } from "./schema.ts";

/** The least commands that the version must have decided before their share of denials counts. */
export const LEAST_COMMANDS = 10;

/** Judges the current stage at a moment (milliseconds). */
export function judge(rollout: Rollout, figures: StageFigures, now: number): RolloutJudgement {
  const { gates, hold_minutes: hold } = rollout.stages[rollout.current_stage - 1] ?? {};
  const isAutomatic =
    hold !== undefined || Object.values(gates ?? {}).some((one) => one !== undefined);
  const breaches = breachesOf(gates ?? {}, figures);
  if (breaches.length > 0) {
    return { outcome: "breached", by_itself: isAutomatic, reasons: breaches };
  }
  const since = Date.parse(rollout.observed_from);
  const waits = [
    ...waitsFor(gates ?? {}, figures),
    ...until(now, since + (hold ?? 0) * MINUTE_MS, "The stage runs at least until"),
    ...(gates?.max_offline === undefined
      ? []
      : until(now, since + ONLINE_MS, "Silence shows after 15 minutes, at")),
    ...(isAutomatic ? [] : ["A person advances this stage"]),
  ];
  return {
    outcome: waits.length > 0 ? "waiting" : "passed",
    by_itself: isAutomatic,
    reasons: waits,
  };
}

function breachesOf(gates: RolloutGates, { before, after, silent }: StageFigures): string[] {
  const { max_denied_increase_percent: increase, max_offline: offline } = gates;
  const breaches: string[] = [];
  if (increase !== undefined && after && after.commands >= LEAST_COMMANDS) {
    if (shareOf(after) - shareOf(before) > increase) {
      breaches.push(
        `${percent(shareOf(after))} of ${after.commands} commands were denied, ${percent(shareOf(before))} before: expected at most ${increase} points more`,
      );
    }
  }
  if (offline !== undefined && silent > offline) {
    breaches.push(
      `${quantity(silent, "runtime")} with the version have been silent for 15 minutes: expected at most ${offline}`,
    );
  }
  return breaches;
}

function waitsFor(gates: RolloutGates, { assigned, reporting, after }: StageFigures): string[] {
  const { min_runtimes: least = 1, max_denied_increase_percent: increase } = gates;
  const waits: string[] = [];
  if (assigned === 0) waits.push("No runtime of the fleet is selected");
  else if (reporting < least) {
    const all = assigned < least ? `, and the stage selects only ${assigned}` : "";
    waits.push(`${reporting} of at least ${quantity(least, "runtime")} report the version${all}`);
  }
  const commands = after?.commands ?? 0;
  if (increase !== undefined && commands < LEAST_COMMANDS) {
    waits.push(
      `${commands} of at least ${LEAST_COMMANDS} commands were decided by the version and reported`,
    );
  }
  return waits;
}

function until(now: number, end: number, words: string): string[] {
  return now < end ? [`${words} ${formatTimestamp(end)}`] : [];
}

/** The share of denied commands in percent; 0 without commands. */
function shareOf({ commands, denied }: Decided): number {
  return commands === 0 ? 0 : (100 * denied) / commands;
}

function percent(share: number): string {
  return `${Math.round(share * 10) / 10}%`;
}
