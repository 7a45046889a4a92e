import type { ActivityStore } from "../../activity/store.ts";
import { filterOf } from "../../audit/filter.ts";
import { bucketsFor, histogramOf } from "../../audit/histogram.ts";
import { readPage } from "../../audit/page.ts";
import type { AuditEvent } from "../../audit/schema.ts";
import type { AuditHistogram, AuditStore } from "../../audit/store.ts";
import type { Catalog } from "../../catalog/view.ts";
import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import { NotFound, Refusal } from "../../core/errors.ts";
import { assignedVersion } from "../../core/assigned-version.ts";
import type { Assignee, Assignments } from "../../core/assignment.ts";
import { TextCutter } from "../../core/json/text-cutter.ts";
import type { Asker } from "../../core/scheduling/turns.ts";
import { dashboardCounts } from "../../dashboard/counts.ts";
import { instanceAt } from "../../fleet/listing.ts";
import { fleetOrder } from "../../fleet/order.ts";
import { sortedPage } from "../../fleet/sorting.ts";
import type { FleetStore } from "../../fleet/store.ts";
import { readSummary } from "../../fleet/summary.ts";
import { apiKeyOf } from "../../keys/draft.ts";
import type { KeyStore } from "../../keys/store.ts";
import type { OrganizationStore } from "../../organizations/store.ts";
import type { PolicyStore } from "../../policies/store.ts";
import { allProviderNames, MOST_NAMED, providerRows } from "../../providers/rows.ts";
import type { ProviderOverrideStore } from "../../providers/store.ts";
import { readRollout, readRollouts, type ReadingNeeds } from "../../rollouts/reading.ts";
import { settingsAnswer, type SettingsConfig } from "../../settings/answer.ts";
import type { SettingsStore } from "../../settings/store.ts";
import { userOf } from "../../users/draft.ts";
import type { UserStore } from "../../users/store.ts";
import { inWords } from "../error-words.ts";
import { proofPart } from "../pages/audit-proof.ts";
import type { PageSource } from "../pages/source.ts";
import { totalOf, type Counted } from "../pages/time-chart.ts";
import { readRules } from "./rule-routes.ts";
import { cutText, MOST_IN_EVENT, MOST_IN_LIST, rowsOf } from "./stored-rows.ts";

/** The stores and settings that pages are read from. */
export interface StoreNeeds {
  readonly assignments: Pick<Assignments, "expected"> & ReadingNeeds["assignments"];
  readonly activity: Pick<ActivityStore, "page">;
  readonly audit: Pick<
    AuditStore,
    | "activity"
    | "facets"
    | "withId"
    | "histogram"
    | "page"
    | "providerNames"
    | "providerUse"
    | "usage"
  >;
  readonly catalog: Catalog;
  readonly config: SettingsConfig;
  readonly fleet: Pick<FleetStore, "counts" | "list" | "page" | "policies">;
  readonly keys: Pick<KeyStore, "list">;
  readonly organizations: Pick<OrganizationStore, "list">;
  readonly overrides: Pick<ProviderOverrideStore, "all">;
  readonly policies: Pick<PolicyStore, "active" | "activeVersion" | "get" | "versions">;
  /** `undefined` while nothing is signed. */
  readonly proofs: object | undefined;
  readonly rollouts: ReadingNeeds["rollouts"];
  readonly settings: Pick<SettingsStore, "list">;
  readonly users: Pick<UserStore, "list">;
}

/**
 * Reads the default organization's data from the stores, as the API would answer it. Long texts are cut.
 *
 * @param now the time of the page in milliseconds
 * @param prefix the prefix of the surface that the page's links name
 * @param asker the client of the page; a search ends when it leaves
 */
export function storeSource(
  needs: StoreNeeds,
  now: number,
  prefix: string,
  asker: Asker,
): PageSource {
  const { gone } = asker;
  const { activity, assignments, audit, catalog, config, fleet, overrides, policies, proofs } =
    needs;
  const id = DEFAULT_ORGANIZATION;
  return {
    async page(query, limit, cursor) {
      const wanted = { limit, offset: 0, cursor, characters: MOST_IN_LIST };
      const { rows, next_cursor } = await readPage(audit, id, filterOf(query), wanted, asker);
      return { events: await rowsOf<AuditEvent>(rows.json), total: rows.total, next_cursor };
    },
    async histogram(query, interval) {
      const { filter, start, end, intervalMs } = bucketsFor(interval, filterOf(query), now);
      const counts = await audit.histogram(id, filter, start, end, intervalMs, asker);
      return filled(counts, start, intervalMs);
    },
    async event(wanted) {
      const [found] = await audit.withId(id, wanted);
      if (!found) throw new NotFound(`There is no audit event "${wanted}"`);
      const cutter = new TextCutter(MOST_IN_EVENT);
      const event = JSON.parse(await cutText(found, cutter)) as AuditEvent;
      const proof = proofs && proofPart(prefix, event.id);
      return { event, isCut: cutter.hasCut, proof };
    },
    providers: async () =>
      allProviderNames(catalog.current(), await audit.providerNames(id, MOST_NAMED, asker)),
    // A reader who has left gets no answer.
    problemOf: (error) =>
      error instanceof Refusal && !gone?.aborted ? inWords(error.message) : undefined,
    async counts() {
      const expected = await assignments.expected(id);
      const [events, runtimes] = await Promise.all([
        audit.activity(id, now, asker),
        fleet.counts(id, now, expected, asker),
      ]);
      return dashboardCounts(events, catalog.current().envelope.counts, runtimes, expected.active);
    },
    async hours(from) {
      const buckets = bucketsFor("1h", { from }, now);
      const { filter, start, end, intervalMs } = buckets;
      const hours = await audit.histogram(id, filter, start, end, intervalMs, asker);
      return histogramOf("1h", buckets, hours);
    },
    fleetSummary: () => readSummary(needs, id, now, asker),
    async runtimes(filter, limit, sort) {
      const expected = await assignments.expected(id);
      const query = { ...filter, ...expected, now };
      const assignedTo = (runtime: Assignee) => assignedVersion(expected, runtime);
      const order = sort && fleetOrder(sort, { now, assignedTo });
      const found = order
        ? await sortedPage(await fleet.list(id, query, asker), order, limit, 0, gone)
        : await fleet.page(id, query, limit, 0, asker);
      return { ...found, runtimes: found.runtimes.map((runtime) => instanceAt(runtime, query)) };
    },
    versions: async () => (await policies.versions(id)).map(({ policy }) => policy),
    policy: (version) => policies.get(id, version),
    rules: (version, rule) => readRules(needs, asker, { organization: id, version, rule, now }),
    rollouts: () => readRollouts(needs, id, now),
    rollout: (wanted) => readRollout(needs, id, wanted, now, gone),
    async catalog() {
      const view = catalog.current();
      const [use, set] = await Promise.all([
        audit.providerUse(id, [...view.declared.keys()], now),
        overrides.all(id),
      ]);
      const { capabilities, envelope } = view;
      return { source: envelope.source, providers: providerRows(view, use, set), capabilities };
    },
    keys: async () => (await needs.keys.list(id)).map(apiKeyOf),
    users: async () => (await needs.users.list(id)).map(userOf),
    organizations: () => needs.organizations.list(),
    async settings() {
      const usage = await audit.usage(id);
      return settingsAnswer(id, await needs.settings.list(id), usage, config);
    },
    async activity(filter, limit, offset) {
      const { json, total } = await activity.page(id, filter, limit, offset, gone);
      return { entries: await rowsOf(json), total };
    },
    user: () => undefined,
  };
}

/** The buckets with events: most buckets of a long time are empty. */
function filled(
  { allowed, denied, other }: AuditHistogram,
  start: number,
  intervalMs: number,
): readonly Counted[] {
  const found: Counted[] = [];
  for (let i = 0; i < allowed.length; i++) {
    const counts = { allowed: allowed[i] ?? 0, denied: denied[i] ?? 0, other: other[i] ?? 0 };
    if (totalOf(counts) > 0) found.push({ start: start + i * intervalMs, ...counts });
  }
  return found;
}
