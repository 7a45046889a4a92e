import type { User } from "../../users/schema.ts";
import { roleOf } from "../../core/roles.ts";
import { withheldFrom, type LeastRoles, type Withheld } from "../withheld.ts";
import { read } from "./api.ts";
import { session } from "./session.ts";

let known: Withheld | undefined;

/** What the user's role withholds, as far as `learnRole` has found out. */
export function withheldHere(): Withheld | undefined {
  return known;
}

/**
 * Learns the signed-in user's role, once for a page. Asks nothing where roles are not enforced: then
 * the page names no operations.
 */
export async function learnRole(signal?: AbortSignal): Promise<void> {
  const least = document.body.dataset["roles"];
  if (known !== undefined || least === undefined || !session()) return;
  const { role } = await read<User>("/auth/me", { ...(signal && { signal }) });
  known = withheldFrom(roleOf(role), JSON.parse(least) as LeastRoles);
}
