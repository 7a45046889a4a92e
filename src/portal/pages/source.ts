import type { ActivityEntry } from "../../activity/schema.ts";
import type { Histogram } from "../../audit/schema.ts";
import type { Capability } from "../../catalog/schema.ts";
import type { Awaitable } from "../../core/caller.ts";
import type { Work } from "../../core/scheduling/work.ts";
import type { DashboardCounts } from "../../dashboard/schema.ts";
import type { FleetFilter } from "../../fleet/store.ts";
import type { FleetSort } from "../../fleet/order.ts";
import type { FleetSummary, RuntimeInstance } from "../../fleet/schema.ts";
import type { QueryOf, QueryParameters } from "../../http/query.ts";
import type { ApiKey } from "../../keys/schema.ts";
import type { Organization } from "../../organizations/schema.ts";
import type { Policy, PolicySummary } from "../../policies/schema.ts";
import type { Provider } from "../../providers/schema.ts";
import type { Rollout } from "../../rollouts/schema.ts";
import type { Settings } from "../../settings/schema.ts";
import type { User } from "../../users/schema.ts";
import type { Html } from "../html.ts";
import type { PolicyRules } from "../rule-schema.ts";
import type { AuditSource } from "./audit-source.ts";
import type { PageContext } from "./parts.ts";

/** The data of all pages: read from the stores on the server, and from the API in a browser. */
export interface PageSource extends AuditSource {
  counts(): Awaitable<DashboardCounts>;
  /** The commands since a moment (milliseconds) by hour. */
  hours(from: number): Awaitable<Histogram>;
  fleetSummary(): Awaitable<FleetSummary>;
  /** The runtimes that match, up to a limit; most recently seen first unless they are sorted. */
  runtimes(filter: FleetFilter, limit: number, sort?: FleetSort): Awaitable<RuntimeList>;
  /** The policy versions without their texts, newest first. */
  versions(): Awaitable<readonly PolicySummary[]>;
  /** A policy version that `versions` names; browsers report a 404 as a fault of the page. */
  policy(version: string): Awaitable<Policy | undefined>;
  /** The rules of a version that `versions` names, and the commands of the rule with an id. */
  rules(version: string, rule?: string): Awaitable<PolicyRules>;
  /** The rollouts without figures, newest first. */
  rollouts(): Awaitable<readonly Rollout[]>;
  /** A rollout that `rollouts` names, with its figures. */
  rollout(id: string): Awaitable<Rollout | undefined>;
  catalog(): Awaitable<CatalogContent>;
  keys(): Awaitable<readonly ApiKey[]>;
  users(): Awaitable<readonly User[]>;
  organizations(): Awaitable<readonly Organization[]>;
  settings(): Awaitable<Settings>;
  activity(filter: ActivityTexts, limit: number, offset: number): Awaitable<ActivitySlice>;
  /** The signed-in user; `undefined` without one. */
  user(): Awaitable<User | undefined>;
}

/** Runtimes, and how many match in all. */
export interface RuntimeList {
  readonly runtimes: readonly RuntimeInstance[];
  readonly total: number;
}

/** The content of the catalog; both lists are sorted by id. */
export interface CatalogContent {
  /** The catalog's origin: `embed`, `file:<path>` or `url:<url>`. */
  readonly source: string;
  readonly providers: readonly Provider[];
  readonly capabilities: readonly Capability[];
}

/** The filters of the activity page. */
export interface ActivityTexts {
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  readonly q?: string | undefined;
}

/** A page of activity entries, newest first, and how many match over all pages. */
export interface ActivitySlice {
  readonly entries: readonly ActivityEntry[];
  readonly total: number;
}

/**
 * A page that shows data. The server and the page's browser module share all of it: the parser of the
 * address (`readQuery` of `parameters`), `read` and `render`. Only the source differs.
 */
export interface DataPage<Model, Q extends QueryParameters = Record<never, never>> {
  /** The path that the navigation marks. */
  readonly path: string;
  readonly title: string;
  /** The entry of `browser/entries/` that keeps the page fresh. */
  readonly module: string;
  /** A further entry, which the page loads where the audit log is signed. */
  readonly signedModule?: string;
  readonly parameters: Q;
  /** Whether the page exists on `/api/v1` alone, as all pages of Access do. */
  readonly isManagement?: true;
  /** The title of a view in the browser's tabs and bookmarks; that of the page when absent. */
  titleOf?(model: Model): string;
  read(source: PageSource, context: PageContext, query: QueryOf<Q>): Promise<Model>;
  /** Pages that may take long are rendered in steps. */
  render(model: Model): Html | Work<Html>;
}

/** The name of the active version; `undefined` before the first publish. */
export function activeOf(versions: readonly PolicySummary[]): string | undefined {
  return versions.find(({ active }) => active)?.version;
}

/** Whether a version was published before the active one: to activate it is to roll back. */
export function isEarlier(versions: readonly PolicySummary[], version: string): boolean {
  const active = versions.findIndex((one) => one.active);
  return active !== -1 && versions.findIndex((one) => one.version === version) > active;
}

/** Reads a version with its text; `undefined` for a version that does not exist. */
export async function readPolicy(
  source: Pick<PageSource, "policy">,
  versions: readonly PolicySummary[],
  version: string | undefined,
): Promise<Policy | undefined> {
  if (version === undefined || !versions.some((one) => one.version === version)) return undefined;
  return source.policy(version);
}
