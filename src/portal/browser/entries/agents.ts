import "../frame.ts";
import type { FreshKey } from "../../pages/access-keys.ts";
import { agents, renderAgents } from "../../pages/agents.ts";
import { call } from "../api.ts";
import { serveButtons, serveForm, textOf } from "../form.ts";
import { keepFresh } from "../live.ts";

/** The key that was just created. It is kept in memory only, until the reader dismisses it. */
let fresh: FreshKey | undefined;

const page = keepFresh({ ...agents, render: (model) => renderAgents({ ...model, fresh }) }, 15_000);

serveForm("[data-add=agent-key]", async (data) => {
  const body = { name: textOf(data, "name"), scopes: "report" };
  fresh = await call<FreshKey>("POST", "/api-keys", { body });
  await page.refresh();
  document.getElementById("fresh-key")?.focus();
});

serveButtons("dismiss", () => {
  fresh = undefined;
  void page.refresh().then(() => document.getElementById("key-name")?.focus());
});
