import { capitalize } from "../../core/capitalize.ts";
import type { Capability } from "../../catalog/schema.ts";
import { string } from "../../core/schema-parts.ts";
import type { QueryOf, QueryParameters } from "../../http/query.ts";
import type { Provider, ProviderStatus } from "../../providers/schema.ts";
import { count, shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import { hiddenField, option, searchField } from "./fields.ts";
import { CATALOG_PATH, executorLink, providerLink, runtimeLink } from "../page-link.ts";
import { allowedOrNote } from "../withheld.ts";
import {
  badge,
  callsV1,
  card,
  emptyCard,
  emptyState,
  facts,
  type Facts,
  LONGEST_SHOWN,
  numberHeading,
  type PageContext,
  shellLines,
  subpageHead,
  table,
  timeOrNever,
  type Tone,
} from "./parts.ts";
import { matchesIn, type CatalogMatches } from "./catalog-matches.ts";
import {
  commandCards,
  commandFacts,
  namesIn,
  readCommandsOf,
  type CommandsOf,
} from "./commands-of.ts";
import type { CatalogContent, DataPage } from "./source.ts";

const parameters = {
  provider: string("The id of the provider."),
  q: string("Text that providers or capabilities contain."),
} as const satisfies QueryParameters;
type CatalogQuery = Partial<QueryOf<typeof parameters>>;

/** The model of the catalog page: the whole catalog, of which the query shows a part. */
export interface CatalogModel extends PageContext, CatalogContent {
  readonly query: CatalogQuery;
  /** The commands of the provider that the query names; `undefined` without one. */
  readonly commands: CommandsOf | undefined;
}

/** The page of the providers and their capabilities. */
export const catalog: DataPage<CatalogModel, typeof parameters> = {
  path: CATALOG_PATH,
  title: "Catalog",
  module: "catalog",
  parameters,
  titleOf: ({ query }) => query.provider ?? query.q ?? "Catalog",
  async read(source, context, query) {
    const { provider } = query;
    const [content, commands] = await Promise.all([
      source.catalog(),
      provider === undefined ? undefined : readCommandsOf(source, context, { provider }),
    ]);
    return { ...context, query, ...content, commands };
  },
  render: renderCatalog,
};

const MOST_CAPABILITIES = 500;
const STATUSES: readonly ProviderStatus[] = ["connected", "degraded", "offline"];
const TONES: Readonly<Record<ProviderStatus, Tone>> = {
  connected: "ok",
  degraded: "warn",
  offline: "none",
};

/** Renders the providers and capabilities, or one provider. */
export function renderCatalog(model: CatalogModel): Html {
  const { query, providers, capabilities } = model;
  if (model.commands) return providerPage(model, query.provider ?? "", model.commands);
  const found = matchesIn(providers, capabilities, query);
  return html`<div class="page-head">
      <h1>Catalog</h1>
      <span class="faint" role="status">${summary(model, found)}</span>
    </div>
    ${search(query)}
    <section class="card" aria-label="Providers">
      ${found.providers.length === 0 ? nothing(query) : providerTable(found.providers, model.now)}
    </section>
    ${query.q === undefined || found.capabilities.length === 0 ? undefined : capabilityCard(found.capabilities)}`;
}

function summary({ providers, capabilities, query }: CatalogModel, found: CatalogMatches): string {
  const of = (some: number, all: number): string =>
    query.q === undefined ? count(all) : `${count(some)} of ${count(all)}`;
  return `${of(found.providers.length, providers.length)} providers, ${of(found.capabilities.length, capabilities.length)} capabilities`;
}

function search({ provider, q }: CatalogQuery): Html {
  return html`<form class="catalog-search" method="get" action="${CATALOG_PATH}" data-filters>
    <div>
      ${searchField(q, `${provider === undefined ? "A provider, a" : "A"} capability, or what it does`)}
    </div>
    ${hiddenField("provider", provider)}
    <button type="submit" class="without-modules">Search</button>
  </form>`;
}

function nothing({ q }: CatalogQuery): Html {
  if (q === undefined) {
    return html`<div class="empty">
      <strong>The catalog is empty</strong>
      <p>It comes with the service, or from a file or an address that is named at the start:</p>
      ${shellLines("CATALOG_SOURCE=./catalog.json npm start")}
    </div>`;
  }
  const all = html`<a href="${CATALOG_PATH}">show everything</a>`;
  return emptyState("Nothing matches", html`Another word may find something: ${all}.`);
}

/** The status of a provider. Without commands in a day the service answers `offline`, which says nothing of a fault. */
function statusBadge({ status, overridden, last_used: lastUsed }: Provider): Html {
  if (status === "offline" && !overridden) {
    return badge(lastUsed === undefined ? "not used" : "not used today", TONES.offline);
  }
  const by = overridden ? html` <span class="faint small">set by hand</span>` : undefined;
  return html`${badge(status, TONES[status])}${by}`;
}

function providerTable(providers: readonly Provider[], now: number): Html {
  const numbers = ["Capabilities", "Operations"].map(numberHeading);
  const headings = ["Provider", "Status", "Last used", ...numbers, "Scope", "Credential"];
  const rows = providers.map(
    (provider) =>
      html`<tr>
        <th scope="row">
          <a href="${providerLink(provider.id)}">${provider.name}</a>
          <span class="under mono">${provider.id}</span>
        </th>
        <td>${statusBadge(provider)}</td>
        <td class="nowrap" data-label="Last used">${timeOrNever(provider.last_used, now)}</td>
        <td class="num" data-label="Capabilities">${count(provider.capabilities)}</td>
        <td class="num wide-only">${count(provider.operations)}</td>
        <td class="wide-only">${provider.scope}</td>
        <td class="wide-only">${provider.auth}</td>
      </tr>`,
  );
  return table(undefined, "rows catalog stacked", headings, rows);
}

/** The card of some capabilities; `advice` stands in for an empty list. */
function capabilityCard(capabilities: readonly Capability[], advice?: Html): Html {
  const rest = capabilities.length - MOST_CAPABILITIES;
  const rows = capabilities.slice(0, MOST_CAPABILITIES).map(
    ({ id, name, description, path }) =>
      html`<tr>
        <th scope="row">${name}<span class="under mono">${id}</span></th>
        <td>
          ${description}${path === "" ? undefined : html`<span class="under mono">${path}</span>`}
        </td>
      </tr>`,
  );
  const list = [
    table(undefined, "rows catalog", ["Capability", "What it does"], rows),
    rest > 0
      ? html`<p class="empty">${count(rest)} more: a longer search text finds them.</p>`
      : undefined,
  ];
  const number = html`<span class="faint small" role="status">${count(capabilities.length)}</span>`;
  return card("capabilities", "Capabilities", capabilities.length === 0 ? advice : list, number);
}

function providerPage(model: CatalogModel, id: string, commands: CommandsOf): Html {
  const { query, providers, capabilities, now } = model;
  const provider = providers.find((one) => one.id === id);
  const head = subpageHead(CATALOG_PATH, "Catalog", provider?.name ?? id);
  if (!provider && commands.newest.total === 0) {
    const all = html`<a href="${CATALOG_PATH}">All providers</a>`;
    const title = `The catalog has no provider "${shorten(id, LONGEST_SHOWN)}"`;
    const advice = html`No command in the log used one of this name either. ${all}.`;
    return html`${head}${emptyCard(title, advice)}`;
  }
  const about = facts([
    ...(provider
      ? aboutProvider(provider)
      : ([["Catalog", "Not in the catalog; commands in the log name it"]] as const)),
    ...commandFacts(commands, now),
    ["People and agents", namesIn(commands.newest.events, "executor", executorLink)],
    ["Runtimes", namesIn(commands.newest.events, "runtime_name", runtimeLink)],
  ]);
  const form =
    provider && callsV1(model)
      ? allowedOrNote(model, "PUT /providers/{id}", "Setting a status", statusForm(provider))
      : undefined;
  const found = matchesIn(providers, capabilities, query).capabilities;
  return html`${head}
  ${commandCards(card("provider-title", "Provider", html`${about} ${form}`), commands, now)}
  ${provider && [search(query), capabilityCard(found, adviceFor(query, id))]}`;
}

function aboutProvider(provider: Provider): Facts {
  return [
    ["Id", html`<span class="mono">${provider.id}</span>`],
    ["Status", statusBadge(provider)],
    ["Scope", provider.scope],
    ["Credential", provider.auth],
  ];
}

/** The advice in place of an empty list of a provider's capabilities. */
function adviceFor({ q }: CatalogQuery, id: string): Html {
  if (q === undefined) {
    const advice = "What this provider is asked to do is recorded all the same.";
    return emptyState("The catalog lists none", advice);
  }
  const all = html`<a href="${providerLink(id)}">show all</a>`;
  return emptyState("Nothing matches", html`Another word may find something: ${all}.`);
}

function statusForm({ status, overridden }: Provider): Html {
  return html`<form
    class="status-form inside needs-modules"
    data-status
    aria-label="Set the status"
  >
    <div>
      <label for="status">Set the status by hand</label>
      <select id="status" name="status" aria-describedby="status-hint">
        ${STATUSES.map((one) => option(one, capitalize(one), status))}
      </select>
    </div>
    <button type="submit">Set</button>
    ${overridden ? html`<button type="button" data-lift="status">Derive it again</button>` : undefined}
    <p class="faint small" id="status-hint">
      ${
        overridden
          ? "It stands until it is set anew or derived again, whatever the commands say."
          : "Derived from the commands of the last 24 hours: degraded when half of them were denied or failed, not used without any."
      }
    </p>
    <p class="error" role="alert"></p>
  </form>`;
}
