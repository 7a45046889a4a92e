/** The roles of users. Each one includes the roles before it. */
export const ROLES = ["viewer", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** Whether roles restrict users (`enforced`) or are only reported (`carried`). */
export type RolesMode = "carried" | "enforced";

/** The role of a stored text; an unknown text counts as the lowest role. */
export function roleOf(text: string): Role {
  return ROLES.find((role) => role === text) ?? "viewer";
}

/** Whether a role includes another one. */
export function includesRole(own: Role, needed: Role): boolean {
  return ROLES.indexOf(own) >= ROLES.indexOf(needed);
}

/** Lists the roles that include a role: `operator or admin`. */
export function rolesFrom(needed: Role): string {
  return ROLES.slice(ROLES.indexOf(needed)).join(" or ");
}
