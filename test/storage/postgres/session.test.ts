/** Changes that wait before their commit, while other requests read what they replace. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startWithLocks } from "../../support/locks.ts";
import { withoutPostgres } from "../../support/postgres.ts";
import { ADMIN } from "../../support/start.ts";

const skip = withoutPostgres;
const LITERAL = "Falcon-9";

for (const [where, statement] of [
  ["before it has replaced them", "LOCK TABLE settings IN SHARE MODE"],
  ["before its commit", "LOCK TABLE activity IN SHARE MODE"],
] as const) {
  test(
    `new settings apply to the first event after their answer, though another one came ${where}`,
    { skip },
    async (t) => {
      const { app, lock, waiting } = await startWithLocks(t, 10);
      const admin = await app.asUser(ADMIN);
      const commandOf = async (): Promise<unknown> =>
        (await app.post("/api/public/audit", { command: `deploy ${LITERAL}` })).body.command;
      const end = await lock(statement);
      const settings = [{ key: "audit.redact.literals", value: LITERAL }];
      const changed = app.put("/api/v1/settings", { settings }, admin);
      await waiting(1);
      assert.equal(await commandOf(), `deploy ${LITERAL}`);
      await end();
      assert.equal((await changed).status, 200);
      assert.equal(await commandOf(), "deploy [redacted:literal]");
    },
  );
}
