/** Hides operations that the role of a user does not include, while roles are enforced. */
import { includesRole, rolesFrom, type Role } from "../core/roles.ts";
import { html, type Html, type HtmlValue } from "./html.ts";

/** An operation of `/api/v1`: its method, and its path below the prefix. */
export type OperationName = `${"POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;

/** Operations, each with the least role that may call it. */
export type LeastRoles = Readonly<Record<string, Role>>;

/** A user's role, and the operations that it does not include. */
export interface Withheld {
  readonly role: Role;
  readonly operations: LeastRoles;
}

/** The operations that take more than the role viewer, from the route table. */
export function leastRolesOf(
  rows: readonly { readonly method: string; readonly path: string; readonly role?: Role }[],
): LeastRoles {
  return Object.fromEntries(
    rows.flatMap(({ method, path, role = "viewer" }) =>
      role === "viewer" ? [] : [[`${method} ${path}`, role]],
    ),
  );
}

/** The operations that a role does not include. */
export function withheldFrom(role: Role, least: LeastRoles): Withheld {
  const operations = Object.entries(least).filter(([, needed]) => !includesRole(role, needed));
  return { role, operations: Object.fromEntries(operations) };
}

interface Reader {
  readonly withheld?: Withheld | undefined;
}

/** Whether the reader's role includes an operation. This only hides controls: the service enforces roles. */
export function isAllowed({ withheld }: Reader, operation: OperationName): boolean {
  return withheld?.operations[operation] === undefined;
}

/** Shows a value only to readers whose role includes an operation. */
export function ifAllowed<T extends HtmlValue>(
  reader: Reader,
  operation: OperationName,
  shown: T,
): T | undefined {
  return isAllowed(reader, operation) ? shown : undefined;
}

/** Shows a control, or the role that it takes: `Creating keys takes the role operator or admin; yours is viewer.` */
export function allowedOrNote(
  { withheld }: Reader,
  operation: OperationName,
  deed: string,
  control?: Html,
): Html | undefined {
  const needed = withheld?.operations[operation];
  if (withheld === undefined || needed === undefined) return control;
  return html`<p class="notice" data-withheld>
    ${deed} takes the role ${rolesFrom(needed)}; yours is ${withheld.role}.
  </p>`;
}
