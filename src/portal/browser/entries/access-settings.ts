import "../frame.ts";
import type { Setting, Settings } from "../../../settings/schema.ts";
import { html } from "../../html.ts";
import { keyFieldId, organizationSettings, valueFieldId } from "../../pages/access-settings.ts";
import { call, read } from "../api.ts";
import { ask } from "../dialog.ts";
import { serveButtons, serveForm } from "../form.ts";
import { keepFresh } from "../live.ts";
import { toast } from "../toast.ts";
import { typedHere } from "../typed.ts";

const MOST_PAIRS = 20;

/** The number of pairs in the form: those that were typed before the session ended, and at least one. */
let pairs = 1;
for (let number = 1; number < MOST_PAIRS; number++) {
  const ids = [keyFieldId(number), valueFieldId(number)];
  if (ids.some((id) => typedHere()[id] !== undefined)) pairs = number + 1;
}

const page = keepFresh(
  { ...organizationSettings, render: (model) => organizationSettings.render({ ...model, pairs }) },
  60_000,
);

/** Reads the pairs, changes them and writes them all. They are read first because others may have changed some. */
async function change(make: (pairs: readonly Setting[]) => readonly Setting[]): Promise<void> {
  const { settings } = await read<Settings>("/settings");
  await call("PUT", "/settings", { body: { settings: make(settings) } });
  await page.refresh();
}

/** The pairs in the form without the empty rows. */
function pairsOf(data: FormData): readonly Setting[] {
  const values = data.getAll("value");
  return data
    .getAll("key")
    .map((key, i) => ({
      key: String(key).trim(),
      value: String(values[i] ?? "").replaceAll("\r\n", "\n"),
    }))
    .filter(({ key, value }) => key !== "" || value !== "");
}

serveForm("[data-add=setting]", async (data) => {
  const given = pairsOf(data);
  const before = pairs;
  pairs = 1;
  try {
    // When a key is given twice, the last value wins.
    await change((known) => [
      ...new Map([...known, ...given].map((pair) => [pair.key, pair])).values(),
    ]);
  } catch (error) {
    pairs = before;
    throw error;
  }
  toast(given.length === 1 ? `${given[0]?.key} is set` : `${given.length} values are set`);
});

serveButtons("another", () => {
  pairs = Math.min(MOST_PAIRS, pairs + 1);
  void page.refresh().then(() => document.getElementById(keyFieldId(pairs - 1))?.focus());
});

serveButtons("change", (key) => void edit(key));

/** Fills the form with a pair. */
async function edit(key: string): Promise<void> {
  const { settings } = await read<Settings>("/settings");
  const [name, value] = ["setting-key", "setting-value"].map((id) => document.getElementById(id));
  if (!(name instanceof HTMLInputElement) || !(value instanceof HTMLTextAreaElement)) return;
  name.value = key;
  value.value = settings.find((pair) => pair.key === key)?.value ?? "";
  value.focus();
}

const UNREDACTED = html`<p>
  From the next event on, what only it names as a secret is stored as it is.
</p>`;

serveButtons("remove", (key) => {
  ask({
    title: html`Remove ${key}?`,
    body: html`<p>The activity keeps the value that it had.</p>
      ${key.startsWith("audit.redact.") ? UNREDACTED : undefined}`,
    confirm: "Remove",
    isDangerous: true,
    async run() {
      await change((pairs) => pairs.filter((pair) => pair.key !== key));
      toast(`${key} is removed`);
    },
  });
});
