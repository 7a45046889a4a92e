/** The dialog that begins a rollout. */
import { labelTexts } from "../../core/labels.ts";
import type { Rollout, RolloutDraft } from "../../rollouts/schema.ts";
import { html, type Html } from "../html.ts";
import { rolloutLink } from "../page-link.ts";
import { choice, option, textField } from "../pages/fields.ts";
import { callsV1 } from "../pages/parts.ts";
import { call, pageSource } from "./api.ts";
import { ask } from "./dialog.ts";
import { pageContext } from "./live.ts";
import { parsed } from "./markup.ts";
import { fillTyped, type TypedValues } from "./typed.ts";

type Stage = RolloutDraft["stages"][number];

/** A version that is to be rolled out. */
export interface RollingOut {
  readonly title: Html | string;
  /** Shown above the stages. */
  readonly body: Html;
  /** Returns the name of the version, which is stored by then. */
  readonly version: (form: FormData) => Promise<string>;
}

/** The runtimes whose labels are suggested. */
const MOST_READ = 200;
const MOST_SUGGESTED = 12;
const STAGING = "env:staging";

/** The values of the fields of a stage; empty ones are left to the service. */
interface StageFields {
  readonly who: "labels" | "percent" | "names";
  readonly value: string;
  readonly hold: string;
  readonly least: string;
  readonly increase: string;
  readonly silent: string;
}

const NEXT: StageFields = {
  ...{ who: "percent", value: "100", hold: "60", least: "1", increase: "5", silent: "" },
};
const FIRST_HOLD = "30";
/**
 * In an open demo a stage passes within minutes, while its visitor watches. It has no limit of denials, which waits for ten
 * commands: for these the machines of staging take 13 minutes (the median of a week), and at times an hour.
 */
const WATCHED = { hold: "1", least: "3", increase: "" } as const;

/** Asks for the stages and begins the rollout. The first stage is staging if the fleet has such runtimes. */
export async function askToRollOut({ title, body, version }: RollingOut): Promise<void> {
  const { runtimes } = await pageSource().runtimes({}, MOST_READ);
  const labels = new Set(runtimes.flatMap(({ labels: own }) => labelTexts(own)));
  const known = [...labels].sort().slice(0, MOST_SUGGESTED);
  const isDemo = !callsV1(pageContext());
  const next: StageFields = { ...NEXT, ...(isDemo && WATCHED) };
  const first: StageFields = {
    ...next,
    ...(labels.has(STAGING) ? ({ who: "labels", value: STAGING } as const) : { value: "5" }),
    ...(!isDemo && { hold: FIRST_HOLD }),
  };
  const defaults = [first, { ...next, value: "25" }, next];
  let number = defaults.length;
  let stored: string | undefined;
  const stage = (n: number): Html => stageFields(defaults[n - 1] ?? next, n);
  const typed = ask({
    title,
    body: html`${body}
      <p class="faint small">
        Each stage adds runtimes. It ends by itself once its hold time is over and its gates pass;
        without any, a person advances it. A limit of denials waits until the version has decided 10
        commands. The last stage makes the version active.
        ${known.length > 0 ? html`Labels in the fleet: ${known.join(", ")}.` : undefined}
      </p>
      <div data-stages>${defaults.map((_, i) => stage(i + 1))}</div>
      <button type="button" data-add>Add a stage</button>
      ${choice({
        ...{ id: "on_breach", label: "When a gate is breached" },
        options: [option("pause", "Pause the rollout"), option("roll_back", "Roll it back")],
      })}`,
    confirm: "Begin the rollout",
    isWide: true,
    async run(form) {
      const stages = stagesOf(form);
      stored ??= await version(form); // once, also if the rollout is refused and sent again
      const draft = { version: stored, stages, on_breach: form.get("on_breach") };
      const { id } = await call<Rollout>("POST", "/rollouts", { body: draft });
      location.assign(rolloutLink(id));
    },
  });
  const list = document.querySelector("dialog [data-stages]");
  const kept = typed && keptStages(typed);
  if (list && typed && kept && kept.length > 0) {
    list.replaceChildren(parsed(html`${kept.map(stage)}`));
    fillTyped(typed);
    number = Math.max(number, ...kept);
  }
  list?.parentElement?.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element)) return;
    if (target.matches("[data-add]")) list.append(parsed(stage(++number)));
    if (target.matches("[data-remove]")) target.closest("fieldset")?.remove();
  });
}

/** The numbers of the stages in values that were kept: each has a choice, which is always kept. */
function keptStages(typed: TypedValues): readonly number[] {
  return Object.keys(typed).flatMap((id) => {
    const [, number] = /^who-(\d+)$/.exec(id) ?? [];
    return number === undefined ? [] : [Number(number)];
  });
}

function stageFields(fields: StageFields, number: number): Html {
  const numeric = (name: "hold" | "least" | "increase" | "silent", label: string): Html =>
    textField({
      ...{ id: `${name}-${number}`, name, label, type: "number", isOptional: true },
      value: fields[name],
    });
  const options = [
    option("labels", "With labels", fields.who),
    option("percent", "A percentage", fields.who),
    option("names", "By name", fields.who),
  ];
  return html`<fieldset class="stage" aria-label="Stage ${number}">
    <div class="two">
      ${choice({ id: `who-${number}`, name: "who", label: "Runtimes", options })}
      ${textField({
        ...{ id: `value-${number}`, name: "value", label: "Labels, percentage or names" },
        ...{ value: fields.value, placeholder: "env:staging, 25, or build-1, build-2" },
      })}
      ${numeric("hold", "Hold, in minutes")} ${numeric("least", "Runtimes that must report it")}
      ${numeric("increase", "Denials may rise by, in points")}
      ${numeric("silent", "Silent runtimes allowed")}
    </div>
    <button type="button" data-remove>Remove this stage</button>
  </fieldset>`;
}

function stagesOf(form: FormData): readonly Stage[] {
  const all = (name: string): readonly string[] =>
    form.getAll(name).map((value) => String(value).trim());
  const numberAt = (name: string, i: number): number | undefined => {
    const text = all(name)[i] ?? "";
    return text === "" ? undefined : Number(text);
  };
  const values = all("value");
  return all("who").map((who, i) => ({
    ...selected(who, values[i] ?? "", i + 1),
    hold_minutes: numberAt("hold", i),
    gates: {
      min_runtimes: numberAt("least", i),
      max_denied_increase_percent: numberAt("increase", i),
      max_offline: numberAt("silent", i),
    },
  }));
}

/** Reads the runtimes of a stage from the text that selects them. */
function selected(who: string, text: string, number: number): Partial<Stage> {
  if (who === "percent") {
    const percent = Number(text.replace("%", ""));
    if (Number.isInteger(percent)) return { percent };
    throw new Error(`Stage ${number}: expected a percentage such as 25`);
  }
  const parts = text.split(",").map((part) => part.trim());
  if (who === "names") return { names: parts };
  const pairs = parts.map((part) =>
    part
      .split(/:(.*)/s)
      .slice(0, 2)
      .map((one) => one.trim()),
  );
  if (pairs.every(([, value = ""]) => value !== "")) return { labels: Object.fromEntries(pairs) };
  throw new Error(`Stage ${number}: expected labels such as ${STAGING}`);
}
