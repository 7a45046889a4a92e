/** The commands that create users and keys, over a database. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatTimestamp } from "../../../src/core/time.ts";
import { PostgresActivity } from "../../../src/storage/postgres/activity.ts";
import { plainSession } from "../../../src/storage/postgres/session.ts";
import { entryOf, idsOf, T0 } from "../../activity/store-suite.ts";
import { run } from "../../support/command-line.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { startThree } from "../../support/servers.ts";
import { ADMIN } from "../../support/start.ts";

const skip = withoutPostgres;

test(
  "users and keys that commands create in a database are good at its servers",
  { skip },
  async (t) => {
    const url = await createDatabase();
    const [one, two] = await startThree(t, { requireAuth: true }, url);
    process.env["DATABASE_URL"] = url;
    t.after(() => delete process.env["DATABASE_URL"]);
    const words = ["user", "add", "--email", ADMIN.email, "--role", "admin"];
    assert.equal((await run(words, ADMIN.password)).code, 0);
    const admin = await one.asUser(ADMIN);
    const { code, out } = await run(["key", "create", "--name", "agents"]);
    assert.equal(code, 0);
    const report = await two.post(
      "/api/v1/fleet/heartbeat",
      { name: "build-1" },
      { "x-api-key": out.trim() },
    );
    assert.equal(report.status, 200);
    const { entries } = (await two.get("/api/v1/activity?actor=command", admin)).body;
    assert.equal(entries.length, 2);
  },
);

test(
  "retention keeps the newest entries of the activity log within its bytes",
  { skip },
  async (t) => {
    const database = await openDatabase(await createDatabase(), 2);
    t.after(() => database.close());
    await database.run(
      "INSERT INTO organizations (id, name, created_at, updated_at) VALUES ('default', 'd', $1, $1)",
      [formatTimestamp(T0)],
    );
    const activity = new PostgresActivity(database, plainSession(database), 1_000);
    for (let n = 1; n <= 9; n++) await activity.append("default", entryOf(n));
    await activity.retain(T0);
    const [ids, total] = await idsOf(activity);
    assert.ok(total > 1 && total < 9);
    assert.ok(ids.startsWith("e9 e8"));
  },
);
