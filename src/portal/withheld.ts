/** What the portal hides from a user whose role does not include it, while roles are enforced. */
import { includesRole, rolesFrom, type Role } from "../core/roles.ts";
import { html, type Html, type HtmlValue } from "./html.ts";

/** An operation of `/api/v1`: its method, and its path below the prefix. */
export type OperationName = `${"POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;

/** Operations, each with the least role that it takes. */
export type LeastRoles = Readonly<Record<string, Role>>;

/** A user's role, and the operations that it does not include. */
export interface Withheld {
  readonly role: Role;
  readonly operations: LeastRoles;
}

/** The operations that not every role includes, as the rows of the route table say. */
export function leastRolesOf(
  rows: readonly { readonly method: string; readonly path: string; readonly role?: Role }[],
): LeastRoles {
  return Object.fromEntries(
    rows.flatMap(({ method, path, role = "viewer" }) =>
      role === "viewer" ? [] : [[`${method} ${path}`, role]],
    ),
  );
}

/** What is withheld from a role. */
export function withheldFrom(role: Role, least: LeastRoles): Withheld {
  const operations = Object.entries(least).filter(([, needed]) => !includesRole(role, needed));
  return { role, operations: Object.fromEntries(operations) };
}

interface Reader {
  readonly withheld?: Withheld | undefined;
}

/** Whether the reader's role includes an operation; the service alone decides, this only hides. */
export function isAllowed({ withheld }: Reader, operation: OperationName): boolean {
  return withheld?.operations[operation] === undefined;
}

/** Shows something only to those whose role includes an operation. */
export function ifAllowed<T extends HtmlValue>(
  reader: Reader,
  operation: OperationName,
  shown: T,
): T | undefined {
  return isAllowed(reader, operation) ? shown : undefined;
}

/** Shows a control, or which role it takes: `Creating keys takes the role operator or admin; yours is viewer.` */
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
