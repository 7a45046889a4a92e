import type { ActivityEntry } from "../../activity/schema.ts";
import { ACCESS_PATH } from "../access-tabs.ts";
import { activityLink, ACTIVITY_ROWS, type ActivityView } from "../activity-view.ts";
import { ACTION_KINDS, changedFields, changeLine, deedOf, namesTarget } from "../activity-words.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";
import { accessFrame } from "./access.ts";
import { badge, credentialHeaders, emptyState, timeAgo, type PageContext } from "./parts.ts";

/** What the page of the activity shows. */
export interface ActivityModel extends PageContext {
  readonly view: ActivityView;
  /** The newest first, from the view's offset on. */
  readonly entries: readonly ActivityEntry[];
  /** How many entries match, over all pages. */
  readonly total: number;
}

const PATH = `${ACCESS_PATH}/activity`;

/** Who changed what, newest first. */
export function activityPage(model: ActivityModel): Html {
  const { entries, total, view } = model;
  return accessFrame(
    "activity",
    model,
    html`${filters(view)}
      <section class="card" aria-labelledby="activity-list">
        <header>
          <h2 id="activity-list">Activity</h2>
          <span class="faint small" role="status">${summary(model)}</span>
        </header>
        ${
          entries.length === 0
            ? nothing(model)
            : html`<ol class="entries">
                ${entries.map((one) => entry(one, model.now))}
              </ol>`
        }
        ${total > ACTIVITY_ROWS || view.offset > 0 ? pages(model) : undefined}
      </section>`,
  );
}

function summary({ entries, total, view: { offset } }: ActivityModel): string {
  if (total === 0) return "";
  if (entries.length === total) return total === 1 ? "1 entry" : `${count(total)} entries`;
  return `${count(offset + 1)} to ${count(offset + entries.length)} of ${count(total)}`;
}

function isNarrowed({ action, actor, target, q }: ActivityView): boolean {
  return [action, actor, target, q].some(Boolean);
}

function nothing(model: ActivityModel): Html {
  if (isNarrowed(model.view) || model.view.offset > 0) {
    return emptyState(
      "Nothing matches",
      html`Another filter may show something: <a href="${PATH}">show everything</a>.`,
    );
  }
  return emptyState(
    "Nothing was changed yet",
    "Every change of policies, keys, users and settings is recorded here, and every sign-in. The same from a shell:",
    { method: "GET", url: `${model.apiUrl}/activity`, headers: credentialHeaders(model, "person") },
  );
}

function filters(view: ActivityView): Html {
  const option = (value: string, label: string): Html =>
    html`<option value="${value}" ${value === (view.action ?? "") ? html` selected` : undefined}>
      ${label}
    </option>`;
  const isOther = view.action !== undefined && ACTION_KINDS.every(([kind]) => kind !== view.action);
  return html`<form class="activity-filters" method="get" action="${PATH}" data-filters>
    <div>
      <label for="action">What</label>
      <select id="action" name="action">
        ${option("", "Everything")}
        ${isOther ? option(view.action ?? "", view.action ?? "") : undefined}
        ${ACTION_KINDS.map(([kind, label]) => option(kind, label))}
      </select>
    </div>
    <div>
      <label for="actor">Who</label>
      <input
        id="actor"
        name="actor"
        value="${view.actor}"
        autocomplete="off"
        placeholder="An email, or anonymous"
      />
    </div>
    <div>
      <label for="q">Search</label>
      <input
        id="q"
        name="q"
        type="search"
        value="${view.q}"
        autocomplete="off"
        data-search
        placeholder="Name, address, request"
      />
    </div>
    ${view.target === undefined ? undefined : html`<input type="hidden" name="target" value="${view.target}" />`}
    <div class="submit">
      <button type="submit">Filter</button>
      ${isNarrowed(view) ? html`<a class="button quiet" href="${PATH}">Clear</a>` : undefined}
    </div>
  </form>`;
}

function entry(one: ActivityEntry, now: number): Html {
  const { action, target, outcome, before, after } = one;
  const changes = changedFields(before, after);
  return html`<li>
    <div class="deed">
      <b>${actorName(one.actor)}</b> ${deedOf(action)}
      ${namesTarget(action) ? targetName(one) : undefined} ${outcomeBadge(outcome)}
    </div>
    <div class="when">${timeAgo(one.timestamp, now)}</div>
    ${
      changes.length === 0
        ? undefined
        : html`<ul class="changes">
            ${changes.map((field) => html`<li>${changeLine(field)}</li>`)}
          </ul>`
    }
    <div class="from">
      ${one.address === undefined ? undefined : html`from ${one.address}, `}by
      ${one.surface === "public" ? "/api/public" : "/api/v1"}, request
      <span class="mono">${one.request_id}</span>
      ${action.startsWith("policy.") ? policyLinks(target.id, before?.["active"]) : undefined}
    </div>
  </li>`;
}

function actorName({ kind, email, name, id }: ActivityEntry["actor"]): Html | string {
  if (kind === "anonymous") return html`<span class="faint">Somebody without credentials</span>`;
  if (kind === "key") return `The API key ${name ?? id ?? ""}`;
  return email ?? id ?? "A user";
}

function targetName({ target: { id, name }, before }: ActivityEntry): Html | undefined {
  const known = before?.["email"] ?? before?.["name"];
  const shown = name ?? (typeof known === "string" ? known : undefined) ?? id;
  return shown === undefined ? undefined : html`<span class="target">${shown}</span>`;
}

function outcomeBadge(outcome: ActivityEntry["outcome"]): Html | undefined {
  if (outcome === "done") return undefined;
  return outcome === "refused"
    ? badge("refused", "bad")
    : badge("failed, may have happened", "warn");
}

/** Leads to the version, and to what it changed of the one that was active before. */
function policyLinks(version: string | undefined, before: unknown): Html | undefined {
  if (version === undefined) return undefined;
  const link = `/portal/policies?version=${encodeURIComponent(version)}`;
  const isCompared = typeof before === "string" && before !== "" && before !== version;
  return isCompared
    ? html`· <a href="${link}&against=${encodeURIComponent(before)}">What it changed</a>`
    : html`· <a href="${link}">The version</a>`;
}

function pages({ view, total }: ActivityModel): Html {
  const { offset } = view;
  const newer = activityLink({ ...view, offset: Math.max(0, offset - ACTIVITY_ROWS) });
  const older = activityLink({ ...view, offset: offset + ACTIVITY_ROWS });
  return html`<nav class="pages" aria-label="Pages of the activity">
    ${offset > 0 ? html`<a class="button" href="${newer}" rel="prev">Newer</a>` : undefined}
    ${offset + ACTIVITY_ROWS < total ? html`<a class="button" href="${older}" rel="next">Older</a>` : undefined}
  </nav>`;
}
