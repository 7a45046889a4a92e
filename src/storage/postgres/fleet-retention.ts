import { forEachOrganization } from "../../core/each-organization.ts";
import type { Log } from "../../core/log.ts";
import type { ForgottenRuntimes } from "../../fleet/store.ts";
import type { Database } from "./database.ts";
import { lockFleet } from "./fleet-reports.ts";
import { withLease } from "./leases.ts";

const FORGOTTEN_AT_ONCE = 5_000;

/** Forgets the runtimes of all organizations that were last seen before a moment; see `FleetStore.forgetSilent`. */
export async function forgetSilent(
  database: Database,
  log: Log,
  before: number,
): Promise<readonly ForgottenRuntimes[]> {
  const forgotten: ForgottenRuntimes[] = [];
  await withLease(database, "fleet retention", {}, async () => {
    const silent = await database.query<{ organization: string }>(
      "SELECT DISTINCT organization_id AS organization FROM runtimes WHERE last_seen < $1",
      [before],
    );
    const organizations = silent.map(({ organization }) => organization);
    const check = () => database.query("SELECT");
    const parts = { check, log, failure: "fleet retention failed" };
    await forEachOrganization(parts, organizations, async (organization) => {
      const runtimes = await forgetSilentOf(database, organization, before);
      forgotten.push({ organization, runtimes });
    });
  });
  return forgotten;
}

async function forgetSilentOf(
  database: Database,
  organization: string,
  before: number,
): Promise<number> {
  for (let total = 0; ;) {
    const removed = await database.transaction(async (transaction) => {
      await lockFleet(transaction, organization);
      return transaction.run(
        `DELETE FROM runtimes WHERE organization_id = $1 AND name IN
           (SELECT name FROM runtimes WHERE organization_id = $1 AND last_seen < $2 LIMIT $3)`,
        [organization, before, FORGOTTEN_AT_ONCE],
      );
    });
    total += removed;
    if (removed < FORGOTTEN_AT_ONCE) return total;
  }
}
