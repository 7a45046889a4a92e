import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { openCatalog } from "../../../src/catalog/source.ts";
import type { Database } from "../../../src/storage/postgres/database.ts";
import { catalogCopy } from "../../../src/storage/postgres/deployment.ts";
import { withLease } from "../../../src/storage/postgres/leases.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { silent as log } from "../../support/silent-log.ts";

const skip = withoutPostgres;

async function open(t: TestContext): Promise<Database> {
  const database = await openDatabase(await createDatabase());
  t.after(() => database.close());
  return database;
}

test("one of many servers does the work, and the next one when it is done", { skip }, async (t) => {
  const database = await open(t);
  let atOnce = 0;
  let times = 0;
  let ended = 0;
  const work = async (): Promise<true> => {
    assert.equal(++atOnce, 1);
    times++;
    do await database.query("SELECT 1");
    while (ended < 4); // until the other servers have tried
    atOnce--;
    return true;
  };
  const tries = Array.from({ length: 5 }, () =>
    withLease(database, "work", {}, work).finally(() => ended++),
  );
  const done = (await Promise.all(tries)).filter((isDone) => isDone);
  assert.deepEqual([done.length, times], [1, 1]);
  const waiting = Array.from({ length: 3 }, () =>
    withLease(database, "work", { waitMs: 60_000 }, work),
  );
  assert.deepEqual(await Promise.all(waiting), [true, true, true]);
});

test("the lease of a server that died ends by itself", { skip }, async (t) => {
  const database = await open(t);
  void withLease(database, "work", { forMs: 50 }, () => new Promise(() => {}));
  const next = await withLease(database, "work", { waitMs: 60_000 }, async () => "done");
  assert.equal(next, "done");
});

test(
  "failed work gives its lease back, even a lease that successful work would keep",
  { skip },
  async (t) => {
    const database = await open(t);
    const terms = { isKept: true };
    const failing = withLease(database, "work", terms, () => Promise.reject(new Error("no")));
    await assert.rejects(failing, /^Error: no$/);
    assert.equal(await withLease(database, "work", terms, async () => 1), 1);
    assert.equal(await withLease(database, "work", terms, async () => 2), undefined);
  },
);

test("one server refreshes the catalog, and the others read its copy", { skip }, async (t) => {
  let asked = 0;
  let name = "One";
  const site = createServer((_request, response) => {
    asked++;
    const provider = { id: "git", name, auth: "none", scope: "repository", operations: [] };
    const catalog = { generated_at: "2026-11-20T00:00:00Z", providers: [provider] };
    response.end(JSON.stringify({ ...catalog, capabilities: [] }));
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    site.closeAllConnections();
    site.close();
  });
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const database = await open(t);
  const limits = { everyMs: 3_600_000, timeoutMs: 60_000, maxBytes: 2_000 };
  const openOne = async () => {
    const opened = await openCatalog(url, catalogCopy(database), log, limits);
    t.after(() => opened.close());
    return opened;
  };
  const servers = [await openOne(), await openOne(), await openOne()];
  assert.equal(asked, 3);
  name = "Two";
  for (const server of servers) await server.refresh();
  assert.equal(asked, 4);
  const names = servers.map((server) => server.current().providers[0]?.name);
  assert.deepEqual(names, ["Two", "Two", "Two"]);
});
