import "../frame.ts";
import { html } from "../../html.ts";
import { apiKeys, type FreshKey, type KeysModel } from "../../pages/access-keys.ts";
import { call } from "../api.ts";
import { ask } from "../dialog.ts";
import { serveButtons, serveForm, textOf } from "../form.ts";
import { keepFresh } from "../live.ts";
import { toast } from "../toast.ts";

/** The key that was just created. It is kept in memory only, until the reader dismisses it. */
let fresh: FreshKey | undefined;
/** The last model that was read. */
let known: KeysModel | undefined;

const page = keepFresh(
  { ...apiKeys, render: (model) => apiKeys.render({ ...(known = model), fresh }) },
  30_000,
);

serveForm("[data-add=key]", async (data) => {
  const days = textOf(data, "expires");
  const body = {
    name: textOf(data, "name"),
    scopes: textOf(data, "scopes"),
    expires_in_days: days === undefined ? undefined : Number(days),
  };
  fresh = await call<FreshKey>("POST", "/api-keys", { body });
  await page.refresh();
  document.getElementById("fresh-key")?.focus();
});

serveButtons("dismiss", () => {
  fresh = undefined;
  document.getElementById("key-name")?.focus();
  void page.refresh();
});

serveButtons("revoke", (id) => void askToRevoke(id));

async function askToRevoke(id: string): Promise<void> {
  if (!known) await page.refresh();
  const key = known?.keys.find((one) => one.id === id);
  if (!key) return toast("This key does not exist any more");
  ask({
    title: html`Revoke the key ${key.name}?`,
    body: html`<p>
      Runtimes that show <span class="mono">${key.prefix}…</span> are refused from their next
      request on. A revoked key never works again; a new one can take its place.
    </p>`,
    confirm: "Revoke",
    isDangerous: true,
    async run() {
      await call("DELETE", `/api-keys/${encodeURIComponent(id)}`);
      toast(`The key ${key.name} is revoked`);
      await page.refresh();
    },
  });
}
