import "../frame.ts";
import { html } from "../../html.ts";
import { rollouts, type PersonStep } from "../../pages/rollouts.ts";
import { isOpen } from "../../../rollouts/state.ts";
import type { Rollout } from "../../../rollouts/schema.ts";
import { call, pageSource, reasonOf } from "../api.ts";
import { ask } from "../dialog.ts";
import { serveButtons } from "../form.ts";
import { keepFresh } from "../live.ts";
import { toast } from "../toast.ts";

const page = keepFresh(rollouts, 30_000, {
  everyMs: 5_000,
  isAwaited: ({ shown }) => shown !== undefined && isOpen(shown),
});

/** The words of each step: its effect, the button that confirms it, and the news of it. */
const WORDS: Readonly<
  Record<PersonStep, (rollout: Rollout) => { effect: string; confirm: string; done: string }>
> = {
  advance: ({ version, current_stage: current, stages }) =>
    current < stages.length
      ? {
          effect: `Stage ${current} ends now, whatever its gates say, and stage ${current + 1} begins.`,
          confirm: `Begin stage ${current + 1}`,
          done: `Stage ${current + 1} has begun`,
        }
      : {
          effect: `The last stage ends now, whatever its gates say: ${version} becomes the active version for all runtimes.`,
          confirm: `Activate ${version}`,
          done: `${version} is the active version`,
        },
  pause: ({ version }) => ({
    effect: `Runtimes that have ${version} keep it, no further ones get it, and no gate acts.`,
    confirm: "Pause",
    done: "The rollout is paused",
  }),
  resume: () => ({
    effect: "The gates observe the current stage anew, from now on.",
    confirm: "Resume",
    done: "The rollout goes on",
  }),
  roll_back: ({ base_version: base }) => ({
    effect: `All runtimes get ${base} again with their next fetch. This ends the rollout.`,
    confirm: "Roll back",
    done: "The rollout was rolled back",
  }),
};

/** Asks before a step is taken. */
async function askToStep(step: PersonStep, id: string): Promise<void> {
  const rollout = await pageSource().rollout(id);
  if (rollout === undefined) return toast("The rollout does not exist any more");
  const { effect, confirm, done } = WORDS[step](rollout);
  ask({
    title: html`${confirm}?`,
    body: html`<p>${effect}</p>`,
    confirm,
    isDangerous: step === "roll_back",
    async run() {
      const body = { stage: rollout.current_stage };
      await call("POST", `/rollouts/${encodeURIComponent(id)}/${step}`, { body });
      toast(done);
      await page.refresh();
    },
  });
}

serveButtons("step", (value) => {
  const [step, id = ""] = value.split(" ");
  askToStep(step as PersonStep, id).catch((error: unknown) => toast(reasonOf(error)));
});
