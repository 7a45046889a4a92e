import type { User } from "../../users/schema.ts";
import { roleOf } from "../../core/roles.ts";
import { withheldFrom, type LeastRoles, type Withheld } from "../withheld.ts";
import { read } from "./api.ts";
import { session } from "./session.ts";

let known: Withheld | undefined;

/** The operations that the user's role does not include; `undefined` before `learnRole` and without roles. */
export function withheldHere(): Withheld | undefined {
  return known;
}

/**
 * Reads the signed-in user's role once for each page. Sends no request where roles are not enforced:
 * the page names no operations then.
 */
export async function learnRole(signal?: AbortSignal): Promise<void> {
  const least = document.body.dataset["roles"];
  if (known !== undefined || least === undefined || !session()) return;
  const { role } = await read<User>("/auth/me", { signal });
  known = withheldFrom(roleOf(role), JSON.parse(least) as LeastRoles);
}
