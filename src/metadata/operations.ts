import { capitalize } from "../core/capitalize.ts";
import { scopesOf, type KeyScope } from "../core/key-scopes.ts";
import { rolesFrom, type Role, type RolesMode } from "../core/roles.ts";
import { PREFIXES, type Method, type RouteDescription, type Surface } from "../http/route.ts";

/** A row on one surface: an operation for clients. */
export interface Operation {
  readonly id: string;
  readonly method: Method;
  /** With its prefix, and `{name}` for each parameter. */
  readonly path: string;
  readonly surface: Surface;
  readonly row: RouteDescription;
}

/**
 * Every operation on the given surfaces, surface by surface in the order of the rows.
 *
 * @throws Error if two operations would share an id
 */
export function operationsOf(
  rows: readonly RouteDescription[],
  surfaces: readonly Surface[],
): readonly Operation[] {
  const operations = surfaces.flatMap((surface) =>
    rows.filter((row) => row.surfaces.includes(surface)).map((row) => operationOf(row, surface)),
  );
  const seen = new Map<string, Operation>();
  for (const operation of operations) {
    const other = seen.get(operation.id);
    if (other) throw new Error(`${other.path} and ${operation.path} share id ${operation.id}`);
    seen.set(operation.id, operation);
  }
  return operations;
}

function operationOf(row: RouteDescription, surface: Surface): Operation {
  const { method, path } = row;
  return { id: operationId(row, surface), method, path: PREFIXES[surface] + path, surface, row };
}

/** `GET /api/v1/policies/{version}` becomes `getV1PoliciesByVersion`. */
function operationId({ method, path }: RouteDescription, surface: Surface): string {
  const words = path
    .replaceAll("{", "by-")
    .split(/[^a-zA-Z0-9]+/)
    .filter((word) => word !== "");
  const prefix = surface === "portal" ? [] : [surface];
  const name = words.length === 0 ? ["root"] : words;
  return method.toLowerCase() + [...prefix, ...name].map(capitalize).join("");
}

/** The credentials of an operation: none, an API key or a token, only a token, or a token in any case. */
export type CredentialRequirement = "none" | "key" | "user" | "always";

type Demanded = Pick<Operation, "row" | "surface">;

/** The credentials that an operation requires; only `/api/v1` ever requires any. */
export function demandOf({ row, surface }: Demanded): CredentialRequirement {
  if (row.access === "open" || surface !== "v1") return "none";
  return row.keys === undefined ? row.access : "key";
}

/** The lowest role that may call an operation while `ROLES` is `enforced`; `undefined` if any may. */
export function leastRole(operation: Demanded): Role | undefined {
  return demandOf(operation) === "none" ? undefined : (operation.row.role ?? "viewer");
}

/** The scopes of API keys that may call an operation while credentials are required. */
export function keyScopesOf(operation: Demanded): readonly KeyScope[] {
  const { keys } = operation.row;
  return keys === undefined || demandOf(operation) === "none" ? [] : scopesOf(keys);
}

/** The required role and key scopes of an operation, in sentences. */
export function permissionInWords(operation: Demanded, roles: RolesMode): readonly string[] {
  const role = leastRole(operation) ?? "viewer";
  const scopes = keyScopesOf(operation).map((scope) => `\`${scope}\``);
  return [
    ...(roles === "carried" || role === "viewer" ? [] : [`Takes the role ${rolesFrom(role)}.`]),
    ...(scopes.length === 0 ? [] : [`Takes API keys of the scope ${scopes.join(" or ")}.`]),
  ];
}

/** The required credentials in words, for tables of operations. */
export const DEMAND_WORDS: Readonly<Record<CredentialRequirement, string>> = {
  none: "none",
  key: "JWT or X-API-Key when REQUIRE_AUTH=true",
  user: "JWT when REQUIRE_AUTH=true",
  always: "JWT",
};
