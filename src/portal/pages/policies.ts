import { containing } from "../../core/long-needle.ts";
import type { Work } from "../../core/scheduling/work.ts";
import { string } from "../../core/schema-parts.ts";
import type { QueryOf, QueryParameters } from "../../http/query.ts";
import type { FleetSummary } from "../../fleet/schema.ts";
import type { Policy, PolicySummary } from "../../policies/schema.ts";
import type { Rollout } from "../../rollouts/schema.ts";
import { ACTIVITY_PATH } from "../access-tabs.ts";
import { count, counted, shorten } from "../format.ts";
import { EDITOR_PATH, type EditorDraft } from "../editor-draft.ts";
import { html, type Html } from "../html.ts";
import { hiddenField, option, searchField } from "./fields.ts";
import { pageLink, POLICIES_PATH, policyLink, ROLLOUTS_PATH } from "../page-link.ts";
import { publishRequest } from "./first-steps.ts";
import {
  activation,
  apiPath,
  badge,
  callsV1,
  emptyCard,
  emptyState,
  facts,
  publishedFacts,
  timeAgo,
  type PageContext,
} from "./parts.ts";
import { allowedOrNote, ifAllowed, isAllowed } from "../withheld.ts";
import { endOfRollout, openRolloutNotice } from "./open-rollout.ts";
import { observeNotice, policyChanges, policyText, type ShownDocument } from "./policy-text.ts";
import { activeOf, readPolicy, type DataPage } from "./source.ts";
import { readVersionHours, versionHoursCard, type VersionHours } from "./version-hours.ts";
import { versionActions } from "./version-actions.ts";
import { runtimesOf, versionRuntimes } from "./version-runtimes.ts";

const parameters = {
  version: string("The version to show. The default is the active version."),
  against: string("The version to compare with."),
  q: string("Text that the listed versions contain: their name, description or author."),
} as const satisfies QueryParameters;
type PoliciesQuery = QueryOf<typeof parameters>;

/** The model of the policies page. */
export interface PoliciesModel extends PageContext {
  readonly query: Partial<PoliciesQuery>;
  /** Newest first. */
  readonly versions: readonly PolicySummary[];
  readonly fleet: FleetSummary;
  readonly rollouts: readonly Rollout[];
  readonly hours: VersionHours;
  /** The version that is shown, with its text; `undefined` when it does not exist. */
  readonly shown: Policy | undefined;
  readonly against: Policy | undefined;
  /** The draft of this tab; the server does not know of it. */
  readonly draft?: Pick<EditorDraft, "base"> | undefined;
}

/** The most versions in the list; a search finds older ones. */
export const LISTED_VERSIONS = 200;

/** Longer lists have a search field. */
const MANY_VERSIONS = 8;

/** The page of the policy versions. */
export const policies: DataPage<PoliciesModel, typeof parameters> = {
  path: POLICIES_PATH,
  title: "Policies",
  module: "policies",
  parameters,
  titleOf: ({ shown, against }) =>
    ["Policies", ...[shown, against].flatMap((policy) => policy?.version ?? [])].join(" · "),
  async read(source, context, query) {
    const [versions, fleet, rollouts] = await Promise.all([
      source.versions(),
      source.fleetSummary(),
      source.rollouts(),
    ]);
    const [shown, against, hours] = await Promise.all([
      readPolicy(source, versions, query.version ?? activeOf(versions) ?? versions[0]?.version),
      readPolicy(source, versions, query.against),
      readVersionHours(source, versions, fleet, context.now),
    ]);
    return { ...context, query, versions, fleet, rollouts, hours, shown, against };
  },
  render: renderPolicies,
};

/** Renders the versions, and one of them as a text or as its changes to another one. */
export function* renderPolicies(model: PoliciesModel): Work<Html> {
  const { versions } = model;
  const shown = versions.length === 0 ? undefined : yield* document(model);
  const listed = versions.length === 0 ? undefined : yield* list(model);
  return html`<div class="page-head">
      <h1>Policies</h1>
      <span class="faint">${counted(versions.length, "version")}</span>
      <div class="actions">
        <a class="button" href="${ROLLOUTS_PATH}">Rollouts</a>
        ${
          callsV1(model)
            ? html`<a class="button" href="${pageLink(ACTIVITY_PATH, { action: "policy" })}"
                >Who changed what</a
              >`
            : undefined
        }
        ${ifAllowed(
          model,
          "POST /policies",
          html`<a class="button primary" href="${EDITOR_PATH}">New version</a>`,
        )}
      </div>
    </div>
    ${allowedOrNote(model, "POST /policies/{version}/activate", "Publishing or activating a version")}
    ${model.draft && ifAllowed(model, "POST /policies", draftNotice(model.draft))}
    ${openRolloutNotice(model.rollouts)}
    ${
      versions.length === 0
        ? noPolicies(model)
        : html`<div class="grid policies">${listed} ${shown}</div>
            ${versionHoursCard(model.hours)}`
    }`;
}

function draftNotice({ base }: Pick<EditorDraft, "base">): Html {
  const begun = base === "" ? undefined : html` that begins with <b class="mono">${base}</b>`;
  return html`<p class="notice">
    This tab has a draft${begun}, which is not published.
    <a href="${EDITOR_PATH}">Continue the draft</a>
  </p>`;
}

function noPolicies(model: PoliciesModel): Html {
  const use = "Runtimes fetch the active version and decide by it.";
  if (!isAllowed(model, "POST /policies")) return emptyCard("No policy yet", use);
  return emptyCard(
    "No policy yet",
    html`${use} <a href="${EDITOR_PATH}">Write the first one</a>, or publish one that allows every
      command:`,
    publishRequest(model),
  );
}

/** Each version has two links with the searched text: a longer text is left out of them. */
const LONGEST_REPEATED = 500;

function* list({ versions, fleet, shown, query, now }: PoliciesModel): Work<Html> {
  const runtimes = runtimesOf(fleet);
  const { q } = query;
  const found = versions.map((policy, i) => ({ policy, before: versions[i + 1]?.version }));
  const matching = q === undefined ? found : yield* holding(found, q);
  const linkTo = (version: string, against?: string): string =>
    q === undefined || q.length > LONGEST_REPEATED
      ? policyLink(version, against)
      : pageLink(POLICIES_PATH, { version, against, q });
  return html`<nav class="card versions" aria-label="Versions">
    ${versions.length > MANY_VERSIONS || q !== undefined ? finder(query, matching.length) : undefined}
    <ol>
      ${matching.slice(0, LISTED_VERSIONS).map(({ policy, before }) => {
        const { version, active, description, updated_by: by, updated_at: at } = policy;
        const running = runtimes.get(version) ?? 0;
        const activated = activation(policy, now);
        const current = version === shown?.version ? html` aria-current="true"` : undefined;
        return html`<li>
          <a href="${linkTo(version)}" ${current}>
            <span class="mono">${version}</span>
            ${active ? badge("Active", "ok") : undefined}
            ${description === undefined ? undefined : html`<span class="about">${shorten(description, 120)}</span>`}
            <span class="about faint">
              ${timeAgo(at, now)} by
              <bdi>${by}</bdi
              >${activated && html` · activated ${activated}`}${running > 0 ? ` · ${counted(running, "runtime")}` : undefined}
            </span>
          </a>
          ${before === undefined ? undefined : changesLink(version, before, linkTo(version, before))}
        </li>`;
      })}
    </ol>
    ${matching.length > LISTED_VERSIONS ? older(matching.length - LISTED_VERSIONS) : undefined}
  </nav>`;
}

/** Finds the versions that contain a text, in any letter case. */
function* holding<T extends { readonly policy: PolicySummary }>(
  versions: readonly T[],
  q: string,
): Work<readonly T[]> {
  const isIn = containing(q.toLowerCase());
  const found: T[] = [];
  for (const one of versions) {
    const { version, description = "", updated_by: by } = one.policy;
    if ([version, description, by].some((text) => isIn(text.toLowerCase()))) found.push(one);
    yield;
  }
  return found;
}

/** The form that searches the versions. It works without modules. */
function finder({ q, version, against }: Partial<PoliciesQuery>, matching: number): Html {
  return html`<form class="finder" method="get" action="${POLICIES_PATH}" role="search" data-find>
    ${hiddenField("version", version)}${hiddenField("against", against)}
    ${searchField(q, "Name, description or author")}
    <button type="submit" class="without-modules">Search</button>
    ${q === undefined ? undefined : html`<p class="small faint" role="status">${counted(matching, "version matches", "versions match")}</p>`}
  </form>`;
}

function older(number: number): Html {
  return html`<p class="inside faint small">${count(number)} older: a search finds them.</p>`;
}

/** The link to the changes of a version to the one published before it. */
function changesLink(version: string, before: string, href: string): Html {
  return html`<a class="changes" href="${href}"
    >What it changed<span class="visually-hidden"> of ${before} in ${version}</span></a
  >`;
}

function* document(model: PoliciesModel): Work<Html> {
  const { shown, query } = model;
  if (!shown) {
    const words = html`The version <code>${query.version}</code> does not exist.`;
    return emptyCard("No such version", words);
  }
  const content = yield* text(model, shown);
  return html`<section class="card document" aria-labelledby="version-title">
    <header>
      <h2 id="version-title" class="mono">${shown.version}</h2>
      ${shown.active ? badge("Active", "ok") : badge("Not active", "none")}
      ${versionActions(model, shown)}
    </header>
    ${facts([["Name", shown.name], ["Description", shown.description], ...publishedFacts(shown, model.now, endOfRollout(model.rollouts, shown)), ["Runtimes", versionRuntimes(model.fleet, shown)]])}
    ${observeNotice(shown.yaml)} ${comparison(model, shown)} ${content}
  </section>`;
}

/** Whether runtimes of the fleet still have to take over the active version. */
export function isRollingOut({ fleet, shown }: PoliciesModel): boolean {
  const { online, idle } = fleet;
  if (!shown?.active) return false;
  return (runtimesOf(fleet).get(shown.version) ?? 0) < online + idle;
}

/** Renders the document, or its changes to the version that it is compared with. */
function* text({ query, against, apiUrl }: PoliciesModel, shown: Policy): Work<Html> {
  const documentOf = ({ version, yaml }: Policy): ShownDocument => ({
    ...{ name: version, yaml },
    href: `${apiPath({ apiUrl })}/policies/${encodeURIComponent(version)}`,
  });
  if (query.against === undefined) return yield* policyText(documentOf(shown));
  if (!against) {
    const words = html`The version <code>${query.against}</code> does not exist.`;
    return emptyState("No such version", words);
  }
  const changes = yield* policyChanges(documentOf(against), documentOf(shown));
  return html`<p class="inside faint">
      From <b class="mono">${against.version}</b> to <b class="mono">${shown.version}</b>:
      ${changes.words}
    </p>
    ${changes.shown}`;
}

/** Renders the form that chooses another version. It works without modules. */
function comparison({ versions, query }: PoliciesModel, shown: Policy): Html | undefined {
  const others = versions
    .slice(0, LISTED_VERSIONS)
    .filter(({ version }) => version !== shown.version);
  if (others.length === 0) return undefined;
  return html`<form class="compare" method="get" action="${POLICIES_PATH}" data-compare>
    ${hiddenField("version", shown.version)} ${hiddenField("q", query.q)}
    <label for="against">Compare with</label>
    <select id="against" name="against">
      <option value="">no other version</option>
      ${others.map(({ version, active }) => option(version, active ? `${version} (active)` : version, query.against))}
    </select>
    <button type="submit" class="without-modules">Compare</button>
  </form>`;
}
