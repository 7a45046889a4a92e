/** A rollout in lines. */
import { printable } from "../../core/printable.ts";
import { gateWords, whoWords } from "../../portal/rollout-words.ts";
import type { Decided, Rollout, RolloutStage } from "../../rollouts/schema.ts";
import { isOpen, stateWord } from "../../rollouts/state.ts";

/** A rollout and the figures of its stages. */
export function rolloutLines(rollout: Rollout): string {
  const { id, version, base_version: base, created_by: by } = rollout;
  const lines = [
    `Rollout ${id} of ${version} instead of ${base}, begun by ${by}`,
    ...rollout.stages.map(
      (stage, i) => `stage ${i + 1}: ${stageWords(stage, endWord(rollout, i + 1))}`,
    ),
  ];
  return lines.map((line) => `${printable(line)}\n`).join("");
}

/** The state of a rollout in one line, with the reasons for it. */
export function progressLine(rollout: Rollout): string {
  const { state, current_stage: stage, stages, reason, judgement } = rollout;
  if (state === "completed") return stateWord(state);
  const reasons = reason === undefined ? (judgement?.reasons ?? []) : [reason];
  const place = isOpen(rollout) ? `, stage ${stage} of ${stages.length}` : "";
  const waits = judgement?.outcome === "passed" ? ["the gates have passed"] : reasons;
  return [`${stateWord(state)}${place}`, waits.join("; ")].filter((part) => part !== "").join(": ");
}

/** The word for a stage that ended: the one in which the rollout itself was ended is not done. */
function endWord({ state, current_stage: current }: Rollout, stage: number): string {
  return stage < current || state === "completed" ? "done" : stateWord(state);
}

function stageWords(stage: RolloutStage, end: string): string {
  const { figures, started_at: from, ended_at: to } = stage;
  const words = [whoWords(stage), `ends when: ${gateWords(stage).join(", ")}`];
  if (from === undefined) words.push("not begun");
  else if (to !== undefined) words.push(end);
  if (figures) {
    const { assigned, reporting, silent, before, after } = figures;
    words.push(`${reporting} of ${assigned} report it`);
    if (silent > 0) words.push(`${silent} silent`);
    words.push(`denied before ${shareOf(before)}${after ? `, since ${shareOf(after)}` : ""}`);
  }
  return words.join("; ");
}

function shareOf({ commands, denied }: Decided): string {
  return `${denied} of ${commands}`;
}
