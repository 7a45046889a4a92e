import type { Statements } from "./database.ts";

/**
 * Locks an organization's row until the end of the transaction, so that changes of its small state happen one after
 * another, on all servers.
 */
export async function lockOrganization(
  transaction: Statements,
  organization: string,
): Promise<void> {
  await transaction.query("SELECT id FROM organizations WHERE id = $1 FOR UPDATE", [organization]);
}
