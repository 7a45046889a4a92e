import { isDrifted } from "../../fleet/drift.ts";
import { STATUSES, type RuntimeInstance } from "../../fleet/schema.ts";

/** The columns that the fleet can be sorted by; `drifted` puts drifted runtimes first. */
export type SortColumn = "name" | "status" | "seen" | "policy" | "version" | "system" | "drifted";

type Order = (a: RuntimeInstance, b: RuntimeInstance) => number;

// Numbers in names count as numbers: build-2 comes before build-10.
const { compare } = new Intl.Collator("en", { numeric: true });

/** By the text of a field; runtimes without one come last. */
function byText(textOf: (runtime: RuntimeInstance) => string | undefined): Order {
  return (one, other) => {
    const [a, b] = [textOf(one) ?? "", textOf(other) ?? ""];
    return a === "" || b === "" ? Number(a === "") - Number(b === "") : compare(a, b);
  };
}

const ORDERS: Readonly<Record<SortColumn, (active: string) => Order>> = {
  name: () => byText(({ name }) => name),
  status: () => (a, b) => STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status),
  seen: () => (a, b) => Date.parse(b.last_seen) - Date.parse(a.last_seen),
  policy: () => byText(({ policy_version: version }) => version),
  version: () => byText(({ version }) => version),
  system: () => byText(({ os }) => os),
  drifted: (active) => (a, b) => Number(isDrifted(b, active)) - Number(isDrifted(a, active)),
};

/**
 * The order that a text names: a column, with `-` before it for the reverse. Takes the active policy
 * version. `undefined` for a text that names no column.
 */
export function fleetOrder(sort: string): ((active: string) => Order) | undefined {
  const column = sort.startsWith("-") ? sort.slice(1) : sort;
  if (!Object.hasOwn(ORDERS, column)) return undefined;
  const orderOf = ORDERS[column as SortColumn];
  if (column === sort) return orderOf;
  return (active) => (a, b) => orderOf(active)(b, a);
}
