/** The words of the rollouts page. */
import { MINUTE_MS } from "../core/clock.ts";
import { labelTexts } from "../core/labels.ts";
import type { Rollout, RolloutStage } from "../rollouts/schema.ts";
import { counted, duration } from "./format.ts";

/** The runtimes that a stage selects. */
export function whoWords({ percent, labels, names }: RolloutStage): string {
  const words = [
    percent === undefined ? "" : percent === 100 ? "All runtimes" : `${percent} % of the runtimes`,
    labels === undefined ? "" : `with ${labelTexts(labels).join(" and ")}`,
    names === undefined ? "" : `named ${names.slice(0, 3).join(", ")}${more(names.length - 3)}`,
  ].filter((word) => word !== "");
  return percent === undefined ? `Runtimes ${words.join(", ")}` : words.join(", ");
}

function more(left: number): string {
  return left > 0 ? ` and ${left} more` : "";
}

/** The conditions under which a stage ends, each as a phrase. */
export function gateWords({ hold_minutes: hold, gates = {} }: RolloutStage): readonly string[] {
  const { max_denied_increase_percent: increase, max_offline: silent } = gates;
  // Without a time, the gate that holds unless another is given is the one that ends the stage.
  const least = gates.min_runtimes ?? (hold === 0 ? 1 : undefined);
  const words = [
    hold === undefined || hold === 0 ? "" : `it has run for ${duration(hold * MINUTE_MS)}`,
    least === undefined ? "" : `${counted(least, "runtime")} or more report it`,
    increase === undefined ? "" : `denials rise by at most ${counted(increase, "point")}`,
    silent === undefined ? "" : `at most ${counted(silent, "runtime")} silent`,
  ].filter((word) => word !== "");
  return words.length === 0 ? ["a person advances it"] : words;
}

/** The milliseconds for which the current stage must still run; 0 or less if it has run for long enough. */
export function holdLeft(rollout: Rollout, now: number): number {
  const { hold_minutes: hold = 0 } = rollout.stages[rollout.current_stage - 1] ?? {};
  return Date.parse(rollout.observed_from) + hold * MINUTE_MS - now;
}
