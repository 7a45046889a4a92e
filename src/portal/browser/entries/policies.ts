import "../frame.ts";
import { finish } from "../../../core/scheduling/work.ts";
import { html } from "../../html.ts";
import { pageLink } from "../../page-link.ts";
import { isRollingOut, policies, renderPolicies } from "../../pages/policies.ts";
import { observeNotice, policyChanges } from "../../pages/policy-text.ts";
import { activeOf, isEarlier, readPolicy } from "../../pages/source.ts";
import { call, pageSource, reasonOf } from "../api.ts";
import { serveLinks } from "../clicks.ts";
import { ask } from "../dialog.ts";
import { storedDraft } from "../drafts.ts";
import { serveButtons, serveFilters } from "../form.ts";
import { keepFresh } from "../live.ts";
import { showReplayOf } from "../policy-replay.ts";
import { askToRollOut } from "../rollout-form.ts";
import { session } from "../session.ts";
import { toast } from "../toast.ts";

const TYPING_MS = 250;

// A version that was published is followed until all runtimes have it.
const page = keepFresh(
  { ...policies, render: (model) => renderPolicies({ ...model, draft: storedDraft() }) },
  30_000,
  { everyMs: 10_000, isAwaited: isRollingOut },
);
if (!session() && storedDraft()) void page.refresh(); // the server's page does not know of the draft

/** Asks before a stored version becomes the active one, and shows the changes. */
async function askToActivate(version: string): Promise<void> {
  const source = pageSource();
  const versions = await source.versions();
  const active = activeOf(versions);
  const [from, to] = await Promise.all([
    readPolicy(source, versions, active),
    readPolicy(source, versions, version),
  ]);
  if (!from || !to) return toast(`Version ${version} does not exist any more`);
  const before = { name: `${active} (active)`, yaml: from.yaml };
  const changes = finish(policyChanges(before, { name: version, yaml: to.yaml }));
  const deed = isEarlier(versions, version) ? "Roll back to" : "Activate";
  ask({
    title: html`${deed} <span class="mono">${version}</span>?`,
    body: html`<p>
        Runtimes will be given <b class="mono">${version}</b> instead of
        <b class="mono">${active}</b>: ${changes.words}.
      </p>
      ${observeNotice(to.yaml)} ${changes.shown}`,
    confirm: `${deed} ${version}`,
    isWide: true,
    async run() {
      await call("POST", `/policies/${encodeURIComponent(version)}/activate`, { body: {} });
      toast(`${version} is the active version`);
      await page.refresh();
    },
  });
}

serveButtons("activate", (version) => {
  askToActivate(version).catch((error: unknown) => toast(reasonOf(error)));
});
serveButtons("replay", showReplayOf);
serveButtons("rollout", (version) => {
  askToRollOut({
    title: html`Roll out <span class="mono">${version}</span>`,
    body: html``,
    version: async () => version,
  }).catch((error: unknown) => toast(reasonOf(error)));
});
serveLinks(".versions a", (link) => void page.go(link, "push"));
serveFilters("[data-compare]", (fields) => void page.go(pageLink(policies.path, fields), "push"));
serveFilters(
  "[data-find]",
  (fields) => void page.go(pageLink(policies.path, fields), "replace"),
  TYPING_MS,
);
