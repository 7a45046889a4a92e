import { isDrifted } from "./drift.ts";
import { STATUSES } from "./schema.ts";
import { statusAfter } from "./status.ts";
import type { StoredRuntime } from "./store.ts";

/** The columns that sort a fleet; `drifted` puts drifted runtimes first. */
const COLUMNS = ["name", "status", "seen", "policy", "version", "system", "drifted"] as const;
type SortColumn = (typeof COLUMNS)[number];

/** The orders of a fleet: each column, and with `-` before it in reverse. */
export const FLEET_SORTS = [...COLUMNS, ...COLUMNS.map((column) => `-${column}` as const)] as const;
export type FleetSort = (typeof FLEET_SORTS)[number];

/** Compares two runtimes, as `Array.sort` takes it. */
export type FleetOrder = (a: StoredRuntime, b: StoredRuntime) => number;

/** The moment of a query (milliseconds), and the version that each runtime should have. */
interface Context {
  readonly now: number;
  readonly assignedTo: (runtime: StoredRuntime) => string;
}

// Numbers in names count as numbers: build-2 comes before build-10.
const { compare } = new Intl.Collator("en", { numeric: true });

/** By the text of a field; runtimes without one come last. */
function byText(textOf: (runtime: StoredRuntime) => string | undefined): () => FleetOrder {
  return () => (one, other) => {
    const [a, b] = [textOf(one) ?? "", textOf(other) ?? ""];
    if (a === b) return 0;
    return a === "" || b === "" ? Number(a === "") - Number(b === "") : compare(a, b);
  };
}

const ORDERS: Readonly<Record<SortColumn, (context: Context) => FleetOrder>> = {
  name: byText(({ name }) => name),
  status:
    ({ now }) =>
    (a, b) =>
      STATUSES.indexOf(statusAfter(now - a.last_seen)) -
      STATUSES.indexOf(statusAfter(now - b.last_seen)),
  seen: () => (a, b) => b.last_seen - a.last_seen,
  policy: byText(({ policy_version: version }) => version),
  version: byText(({ version }) => version),
  system: byText(({ os }) => os),
  drifted: ({ now, assignedTo }) => {
    // Under a rollout by percentage each rank takes a hash, and a runtime on the page is compared many times. Those that
    // are dropped from the page can be collected.
    const ranks = new WeakMap<StoredRuntime, number>();
    const rank = (runtime: StoredRuntime): number => {
      const known = ranks.get(runtime);
      if (known !== undefined) return known;
      const { last_seen: lastSeen, policy_version } = runtime;
      const status = statusAfter(now - lastSeen);
      const own = Number(isDrifted({ status, policy_version }, assignedTo(runtime)));
      ranks.set(runtime, own);
      return own;
    };
    return (a, b) => rank(b) - rank(a);
  },
};

/** The order that a sort names, at the moment of a query. */
export function fleetOrder(sort: FleetSort, context: Context): FleetOrder {
  const column = sort.replace("-", "") as SortColumn;
  const order = ORDERS[column](context);
  return sort === column ? order : (a, b) => order(b, a);
}
