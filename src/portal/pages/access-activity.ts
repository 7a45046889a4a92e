import type { ActivityEntry } from "../../activity/schema.ts";
import { string } from "../../core/schema-parts.ts";
import type { QueryOf, QueryParameters } from "../../http/query.ts";
import { ACTIVITY_PATH } from "../access-tabs.ts";
import {
  ACTION_KINDS,
  changedFields,
  changeLine,
  deedOf,
  namesTarget,
  originOf,
} from "../activity-words.ts";
import { count, counted } from "../format.ts";
import { html, type Html } from "../html.ts";
import { choice, hiddenField, option, searchField, textField } from "./fields.ts";
import { pageLink, policyLink } from "../page-link.ts";
import { accessPage } from "./access.ts";
import { apiRequest, badge, card, emptyState, timeAgo, type PageContext } from "./parts.ts";
import type { ActivitySlice, DataPage } from "./source.ts";

/** The number of entries on a page. */
const ACTIVITY_ROWS = 50;

const parameters = {
  action: string("An action, such as `policy.publish`, or a kind, such as `policy`."),
  actor: string("The id, email or name of the caller, or `anonymous`."),
  target: string("The id or name of the changed object."),
  q: string("Text that the entry contains."),
  offset: {
    type: "integer",
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    forgiving: true,
    description: "The number of entries to skip, from the newest on.",
  },
} as const satisfies QueryParameters;
type ActivityQuery = QueryOf<typeof parameters>;

/** The model of the activity page. */
export interface ActivityModel extends PageContext, ActivitySlice {
  readonly query: ActivityQuery;
}

/** The page of who changed what. */
export const activity: DataPage<ActivityModel, typeof parameters> = {
  ...accessPage("activity", renderActivity),
  signedModule: "activity-check",
  parameters,
  async read(source, context, query) {
    const { offset, ...texts } = query;
    return { ...context, query, ...(await source.activity(texts, ACTIVITY_ROWS, offset)) };
  },
};

/** Renders the entries, newest first. */
function renderActivity(model: ActivityModel): Html {
  const { entries, total, query, now } = model;
  const isPaged = total > ACTIVITY_ROWS || query.offset > 0;
  const list =
    entries.length === 0
      ? nothing(model)
      : html`<ol class="entries">
          ${entries.map((one) => entry(one, now))}
        </ol>`;
  const shown = html`<span class="faint small" role="status">${summary(model)}</span>`;
  const body = [list, isPaged ? pages(model) : undefined];
  return html`${filters(query)}${card("activity-list", "Activity", body, shown)}`;
}

function summary({ entries, total, query: { offset } }: ActivityModel): string {
  if (total === 0) return "";
  if (entries.length === total) return counted(total, "entry", "entries");
  return `${count(offset + 1)} to ${count(offset + entries.length)} of ${count(total)}`;
}

function isNarrowed({ action, actor, target, q }: ActivityQuery): boolean {
  return [action, actor, target, q].some(Boolean);
}

function nothing(model: ActivityModel): Html {
  if (isNarrowed(model.query) || model.query.offset > 0) {
    const all = html`<a href="${ACTIVITY_PATH}">show everything</a>`;
    return emptyState("Nothing matches", html`Another filter may show something: ${all}.`);
  }
  return emptyState(
    "Nothing was changed yet",
    "Every change of policies, keys, users and settings is recorded here, and every sign-in. To read it from a shell:",
    apiRequest(model, "person", "GET /activity"),
  );
}

function filters(query: ActivityQuery): Html {
  const isOther =
    query.action !== undefined && ACTION_KINDS.every(([kind]) => kind !== query.action);
  const actions = [
    option("", "Everything", query.action),
    isOther ? option(query.action ?? "", query.action ?? "", query.action) : undefined,
    ACTION_KINDS.map(([kind, label]) => option(kind, label, query.action)),
  ];
  return html`<form class="activity-filters" method="get" action="${ACTIVITY_PATH}" data-filters>
    ${choice({ id: "action", label: "What", options: actions })}
    ${textField({ id: "actor", name: "actor", label: "Who", value: query.actor, placeholder: "An email, or anonymous", isOptional: true })}
    <div>${searchField(query.q, "Name, address, request")}</div>
    ${hiddenField("target", query.target)}
    <div class="submit">
      <button type="submit">Filter</button>
      ${isNarrowed(query) ? html`<a class="button quiet" href="${ACTIVITY_PATH}">Clear</a>` : undefined}
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
      ${one.address === undefined ? undefined : html`from ${one.address}, `}${originOf(one.surface)},
      request
      <span class="mono">${one.request_id}</span>
      ${action.startsWith("policy.") ? policyLinks(target.id, before?.["active"]) : undefined}
    </div>
  </li>`;
}

/** The caller who made a change, in words. */
export function actorName({ kind, email, name, id }: ActivityEntry["actor"]): Html | string {
  if (kind === "anonymous") return html`<span class="faint">A caller without credentials</span>`;
  if (kind === "gate") return "A gate";
  if (kind === "service") return "The service";
  if (kind === "command") return "The command line";
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

/** The link to a version, or to its changes to the version that was active before. */
function policyLinks(version: string | undefined, before: unknown): Html | undefined {
  if (version === undefined) return undefined;
  const isCompared = typeof before === "string" && before !== "" && before !== version;
  return isCompared
    ? html`· <a href="${policyLink(version, before)}">What it changed</a>`
    : html`· <a href="${policyLink(version)}">The version</a>`;
}

function pages({ query, total }: ActivityModel): Html {
  const { offset } = query;
  const newer = pageLink(ACTIVITY_PATH, { ...query, offset: Math.max(0, offset - ACTIVITY_ROWS) });
  const older = pageLink(ACTIVITY_PATH, { ...query, offset: offset + ACTIVITY_ROWS });
  return html`<nav class="pages" aria-label="Pages of the activity">
    ${offset > 0 ? html`<a class="button" href="${newer}" rel="prev">Newer</a>` : undefined}
    ${offset + ACTIVITY_ROWS < total ? html`<a class="button" href="${older}" rel="next">Older</a>` : undefined}
  </nav>`;
}
