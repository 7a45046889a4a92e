import type { TestContext } from "node:test";
import { PostgresAudit, type PostgresAuditOptions } from "../../../src/storage/postgres/audit.ts";
import type { Database } from "../../../src/storage/postgres/database.ts";
import { openDatabase } from "../../support/postgres.ts";
import { silent } from "../../support/silent-log.ts";
/** An audit store over a connection. */
export function auditOver(
  database: Database,
  options: Partial<PostgresAuditOptions> = {},
): PostgresAudit {
  return new PostgresAudit({ database, now: () => 0, log: silent, durability: "sync", ...options });
}

/** The audit store of one server: over connections of its own, until the test ends. */
export async function auditServer(
  t: TestContext,
  url: string,
  options?: Partial<PostgresAuditOptions>,
): Promise<PostgresAudit> {
  const database = await openDatabase(url);
  const store = auditOver(database, options);
  t.after(async () => {
    await store.close();
    await database.close();
  });
  return store;
}
