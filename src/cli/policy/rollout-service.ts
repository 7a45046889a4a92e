/** The rollouts of a service, as commands read and follow them. */
import { MINUTE_MS, SECOND_MS } from "../../core/clock.ts";
import type { ServiceAnswer } from "../../guard/service.ts";
import type { Rollout, RolloutDraft } from "../../rollouts/schema.ts";
import { InputError, type Terminal } from "../command.ts";
import { jsonOf, type PolicyService, succeeded } from "./service.ts";

/** The time between two looks, which doubles at first. */
const FIRST_PAUSE_MS = SECOND_MS;
const LONGEST_PAUSE_MS = 5 * SECOND_MS;
/** A service that restarts is waited for; one that stays away for longer ends the command. */
const LONGEST_SILENCE_MS = 5 * MINUTE_MS;

/** Begins a rollout. */
export function beginRollout(service: PolicyService, draft: RolloutDraft): Promise<Rollout> {
  return sent(service, "/rollouts", draft);
}

/** Takes a step of a rollout. */
export function takeStep(
  service: PolicyService,
  id: string,
  step: "advance" | "pause" | "resume" | "roll_back",
  stage: number,
): Promise<Rollout> {
  return sent(service, `${pathOf(id)}/${step}`, { stage });
}

/** The newest rollout without figures; `undefined` before the first one. */
export async function newestRollout(service: PolicyService): Promise<Rollout | undefined> {
  const answer = await service.get("/rollouts");
  return jsonOf<{ readonly rollouts: readonly Rollout[] }>(answer, { rollouts: "array" })
    .rollouts[0];
}

/** A rollout with its figures: the newest one unless an id is given. */
export async function readRollout(
  service: PolicyService,
  id: string | undefined,
): Promise<Rollout> {
  const wanted = id ?? (await newestRollout(service))?.id;
  if (wanted === undefined) throw new Error("There is no rollout: begin one first");
  return rolloutOf(succeeded(await service.get(pathOf(wanted))));
}

/** The end of a wait: the rollout as it was read last. */
export interface Followed {
  readonly rollout: Rollout;
  /** Whether it stopped: it has ended, or it is paused. */
  readonly hasStopped: boolean;
}

/**
 * Follows a rollout until it stops.
 *
 * @param until the latest moment, in milliseconds
 * @param onLook called with the rollout at each look
 * @throws InputError if the service cannot be reached for five minutes
 */
export async function followRollout(
  service: PolicyService,
  id: string,
  until: number,
  { now, pause }: Pick<Terminal, "now" | "pause">,
  onLook: (rollout: Rollout) => void,
): Promise<Followed> {
  let reachedAt = now();
  for (let next = FIRST_PAUSE_MS; ; next = Math.min(2 * next, LONGEST_PAUSE_MS)) {
    const found = await readRollout(service, id).catch((error: unknown) => {
      if (error instanceof InputError && now() - reachedAt < LONGEST_SILENCE_MS) return undefined;
      throw error;
    });
    if (found !== undefined) {
      reachedAt = now();
      onLook(found);
      if (found.state !== "running") return { rollout: found, hasStopped: true };
      if (reachedAt >= until) return { rollout: found, hasStopped: false };
    }
    await pause(Math.min(next, Math.max(FIRST_PAUSE_MS, until - now())));
  }
}

function pathOf(id: string): string {
  return `/rollouts/${encodeURIComponent(id)}`;
}

async function sent(service: PolicyService, path: string, body: object): Promise<Rollout> {
  return rolloutOf(succeeded(await service.post(path, body)));
}

function rolloutOf(answer: ServiceAnswer): Rollout {
  return jsonOf<Rollout>(answer, {
    id: "string",
    version: "string",
    state: "string",
    stages: "array",
  });
}
