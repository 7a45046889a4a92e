/** The commands that create users and keys, over a database. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { activityOver, ActivityWriter } from "../../../src/storage/postgres/activity.ts";
import type { Database } from "../../../src/storage/postgres/database.ts";
import { plainSession } from "../../../src/storage/postgres/session.ts";
import { entryOf, idsOf } from "../../activity/store-suite.ts";
import { run } from "../../support/command-line.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { startThree } from "../../support/servers.ts";
import { ADMIN } from "../../support/start.ts";
import { silent } from "../../support/silent-log.ts";

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

const sizeOf = async (database: Database): Promise<number> => {
  const text = "SELECT sum(octet_length(entry) + 1) AS bytes FROM activity";
  return (await database.query<{ bytes: number }>(text))[0]?.bytes ?? 0;
};

test("the newest entries of the activity log are kept, within its bytes", { skip }, async (t) => {
  const database = await openDatabase(await createDatabase(), 2);
  t.after(() => database.close());
  const writer = new ActivityWriter(database, 2_000);
  const activity = activityOver(database, plainSession(database), writer, silent);
  for (let n = 1; n <= 20; n++) {
    await activity.append("default", entryOf(n));
    await writer.close();
    assert.ok((await sizeOf(database)) <= 2_500); // the last entry may not be seen yet
  }
  const [ids, total] = await idsOf(activity);
  assert.ok(total > 3 && total < 20);
  assert.ok(ids.startsWith("e20 e19 e18"));
});

test("a server looks at the size of the activity log with its first entry", { skip }, async (t) => {
  const database = await openDatabase(await createDatabase(), 2);
  t.after(() => database.close());
  const append = async (maxBytes: number, n: number): Promise<void> => {
    const writer = new ActivityWriter(database, maxBytes);
    await activityOver(database, plainSession(database), writer, silent).append(
      "default",
      entryOf(n),
    );
    await writer.close();
  };
  for (let n = 1; n <= 200; n++) await append(Infinity, n);
  const limit = Math.floor((await sizeOf(database)) / 2);
  await append(limit, 201); // as after a restart with a smaller limit
  const after = await sizeOf(database);
  assert.ok(after < limit * 1.1, `${after} bytes are left, of at most ${limit}`); // the last entry may not be seen yet
});
