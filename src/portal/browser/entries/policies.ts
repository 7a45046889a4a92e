import "../frame.ts";
import { finish } from "../../../core/work.ts";
import type { FleetSummary } from "../../../fleet/schema.ts";
import { html } from "../../html.ts";
import { policiesPage, type PoliciesModel, type PoliciesQuery } from "../../pages/policies.ts";
import { policyChanges } from "../../pages/policy-text.ts";
import type { PageContext } from "../../pages/parts.ts";
import { policyLink } from "../../policy-link.ts";
import { call, callsV1, read } from "../api.ts";
import { isModified } from "../clicks.ts";
import { ask } from "../dialog.ts";
import { contentElement, keepFresh } from "../live.ts";
import { readVersion, readVersions } from "../policy-list.ts";
import { toast } from "../toast.ts";

const EVERY_MS = 30_000;

function query(): PoliciesQuery {
  const given = new URLSearchParams(location.search);
  return {
    version: given.get("version") || undefined,
    against: given.get("against") || undefined,
  };
}

async function load(context: PageContext, signal: AbortSignal): Promise<PoliciesModel> {
  const [versions, { policy_versions: reported }] = await Promise.all([
    readVersions(signal),
    read<FleetSummary>("/fleet/summary", { signal }),
  ]);
  const asked = query();
  const [shown, against] = await Promise.all([
    readVersion(versions, asked.version ?? versions.active, signal),
    readVersion(versions, asked.against, signal),
  ]);
  return {
    ...context,
    query: asked,
    versions: versions.policies,
    runtimes: new Map(reported.map(({ version, present }) => [version, present])),
    shown,
    against,
    hasActivity: callsV1(),
  };
}

const page = keepFresh({ load, render: (model) => finish(policiesPage(model)), everyMs: EVERY_MS });

function goTo(link: string): void {
  history.pushState(null, "", link);
  void page.refresh();
}

/** Asks before an older version becomes the active one again, and says what that changes. */
async function askToActivate(version: string): Promise<void> {
  const versions = await readVersions();
  const { active } = versions;
  const [from, to] = await Promise.all([
    readVersion(versions, active),
    readVersion(versions, version),
  ]);
  if (!from || !to) return toast(`There is no version ${version} any more`);
  const changes = finish(
    policyChanges(
      { name: `${active} (active)`, yaml: from.yaml },
      { name: version, yaml: to.yaml },
    ),
  );
  ask({
    title: html`Activate <span class="mono">${version}</span>?`,
    body: html`<p>
        Runtimes will be given <b class="mono">${version}</b> instead of
        <b class="mono">${active}</b>: ${changes.words}.
      </p>
      ${changes.shown}`,
    confirm: `Activate ${version}`,
    isWide: true,
    async run() {
      await call("POST", `/policies/${encodeURIComponent(version)}/activate`, { body: {} });
      toast(`${version} is the active version`);
      await page.refresh();
    },
  });
}

contentElement().addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const activate = event.target.closest<HTMLElement>("[data-activate]")?.dataset["activate"];
  if (activate !== undefined) {
    askToActivate(activate).catch((error: unknown) => toast(String(error)));
    return;
  }
  const link = event.target.closest<HTMLAnchorElement>(".versions a");
  if (!link || isModified(event)) return;
  event.preventDefault();
  goTo(link.pathname + link.search);
});

/** Compares with what is chosen. */
function compare(form: HTMLFormElement): void {
  const data = new FormData(form);
  goTo(policyLink(String(data.get("version")), String(data.get("against") ?? "") || undefined));
}

contentElement().addEventListener("change", (event) => {
  if (!(event.target instanceof HTMLSelectElement)) return;
  const form = event.target.closest<HTMLFormElement>("[data-compare]");
  if (form) compare(form);
});
contentElement().addEventListener("submit", (event) => {
  if (!(event.target instanceof HTMLFormElement) || !event.target.matches("[data-compare]")) return;
  event.preventDefault();
  compare(event.target);
});
window.addEventListener("popstate", () => void page.refresh());
