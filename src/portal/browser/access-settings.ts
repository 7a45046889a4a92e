import type { Setting, Settings } from "../../settings/schema.ts";
import { html } from "../html.ts";
import { settingsPage, type SettingsModel } from "../pages/access-settings.ts";
import type { PageContext } from "../pages/parts.ts";
import { call, read } from "./api.ts";
import { ask } from "./dialog.ts";
import { serveButtons, serveForm, textOf } from "./form.ts";
import { keepFresh } from "./live.ts";
import { toast } from "./toast.ts";

const EVERY_MS = 60_000;

async function load(context: PageContext, signal: AbortSignal): Promise<SettingsModel> {
  return { ...context, answer: await read<Settings>("/settings", { signal }) };
}

const page = keepFresh({ load, render: settingsPage, everyMs: EVERY_MS });

/** Replaces all pairs by what is made of those that stand now: others may have changed some since. */
async function change(make: (pairs: readonly Setting[]) => readonly Setting[]): Promise<void> {
  const { settings } = await read<Settings>("/settings");
  await call("PUT", "/settings", { body: { settings: make(settings) } });
  await page.refresh();
}

serveForm("[data-add=setting]", async (data) => {
  const key = textOf(data, "key") ?? "";
  const pair = { key, value: String(data.get("value") ?? "").replaceAll("\r\n", "\n") };
  await change((pairs) =>
    pairs.some((one) => one.key === key)
      ? pairs.map((one) => (one.key === key ? pair : one))
      : [...pairs, pair],
  );
  toast(`${key} is set`);
});

serveButtons("change", (key) => void edit(key));

/** Puts a pair into the form. */
async function edit(key: string): Promise<void> {
  const { settings } = await read<Settings>("/settings");
  const [name, value] = ["setting-key", "setting-value"].map((id) => document.getElementById(id));
  if (!(name instanceof HTMLInputElement) || !(value instanceof HTMLTextAreaElement)) return;
  name.value = key;
  value.value = settings.find((pair) => pair.key === key)?.value ?? "";
  value.focus();
}

serveButtons("remove", (key) => {
  ask({
    title: html`Remove ${key}?`,
    body: html`<p>The activity keeps the value that it had.</p>`,
    confirm: "Remove",
    isDangerous: true,
    async run() {
      await change((pairs) => pairs.filter((pair) => pair.key !== key));
      toast(`${key} is removed`);
    },
  });
});
