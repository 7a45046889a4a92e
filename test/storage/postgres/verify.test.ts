/** `signalbox verify --database` finds what constraints cannot. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { HOUR_MS } from "../../../src/core/clock.ts";
import { run } from "../../support/command-line.ts";
import {
  createDatabase,
  openDatabase,
  sharedCluster,
  withoutPostgres,
} from "../../support/postgres.ts";
import { openPostgresEngine } from "../../../src/storage/postgres/engine.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../../support/start.ts";

const skip = withoutPostgres;

/** A database with some events, policies, keys and users; the server is stopped. */
async function makeDatabase(): Promise<string> {
  const databaseUrl = await createDatabase();
  const app = await start({ after }, ADMIN_SETTINGS, undefined, (parts) =>
    openPostgresEngine({ ...parts, config: { ...parts.config, databaseUrl } }),
  );
  const admin = await app.asUser(ADMIN);
  await app.createKey("k", admin);
  for (const version of ["v1", "v2"]) {
    await app.post("/api/v1/policies", { version, yaml: `a: ${version}` }, admin);
  }
  for (let day = 0; day < 2; day++) {
    const events = Array.from({ length: 5 }, (_, i) => ({
      id: `e${day}-${i}`,
      command: `git ${i} \u0000`,
      policy_decision: i === 0 ? "DENIED" : "ALLOWED",
    }));
    await app.post("/api/v1/audit", { events }, admin);
    app.advance(4 * HOUR_MS);
  }
  await app.close();
  return databaseUrl;
}

const template = skip === false ? await makeDatabase() : "";

const FIRST = "organization_id = 'default' AND seq = 1";

/** A fault, the table in which it is found, the message, and the statement that makes the fault. */
const FAULTS: readonly (readonly [string, string, RegExp, string])[] = [
  ["a total", "audit_heads", /says 11 events/, "UPDATE audit_heads SET events = events + 1"],
  ["a missing total", "audit_heads", /"default": has events/, "DELETE FROM audit_heads"],
  [
    "an organization that no directory can have",
    "organizations",
    /"\.\.\/x": not an id of an organization/,
    "UPDATE organizations SET id = '../x'",
  ],
  ["a size", "audit_heads", /says 10 events of \d+ bytes/, "UPDATE audit_heads SET bytes = 7"],
  [
    "a count of a day",
    "audit_days",
    /\(DENIED,human\) of "default" on 2026-11-20: has \(2,/,
    "UPDATE audit_days SET events = 2 WHERE decision = 'DENIED' AND day = '2026-11-20'",
  ],
  [
    "a count of a minute",
    "audit_minutes",
    /has \(9\), the events make \(4\) \(events\)$/,
    "UPDATE audit_minutes SET events = 9 WHERE decision = 'ALLOWED' AND day = '2026-11-20'",
  ],
  [
    "a missing count of a provider",
    "audit_provider_minutes",
    /the events make \(5,1,/,
    "SELECT audit_count_1('default', 100); DELETE FROM audit_provider_minutes WHERE day = '2026-11-20'",
  ],
  [
    "a count of an hour",
    "audit_hours",
    /on 2026-11-20: has \(3\), the events make \(\)/,
    "INSERT INTO audit_hours VALUES ('default', 0, '2026-11-20', '', 'human', 3)",
  ],
  [
    "a count of a value",
    "audit_values",
    /\(executor,x,"",human\) of "default" on 2026-11-20: has \(3\)/,
    "INSERT INTO audit_values VALUES ('default', 'executor', 'x', '2026-11-20', '', 'human', 3)",
  ],
  [
    "a missing event",
    "audit_events",
    /"default": 1 row numbers up to 10 have no event/,
    `DELETE FROM audit_events WHERE ${FIRST}`,
  ],
  [
    "another searched text",
    "audit_events",
    /row 1 of "default": search: not as its line says/,
    `UPDATE audit_events SET search = 'x' WHERE ${FIRST}`,
  ],
  [
    "another column",
    "audit_events",
    /row 1 of "default": decision: not as its line says/,
    `UPDATE audit_events SET decision = NULL WHERE ${FIRST}`,
  ],
  [
    "half a line",
    "audit_events",
    /row 1 of "default": its line is no event of it/,
    `UPDATE audit_events SET line = left(line, 20) WHERE ${FIRST}`,
  ],
  [
    "a missing id",
    "audit_ids",
    /row 1 of "default": its id does not lead to it/,
    `DELETE FROM audit_ids WHERE ${FIRST}`,
  ],
  [
    "no active version",
    "organizations",
    /"default": active_version is "v9", no version of it/,
    "UPDATE organizations SET active_version = 'v9'",
  ],
  [
    "another policy text",
    "policy_versions",
    /"v1" of "default": has another SHA-256/,
    "UPDATE policy_versions SET yaml = 'b: 1' WHERE version = 'v1'",
  ],
  [
    "half a user",
    "users",
    /number \d+ of "default": .*JSON/,
    "UPDATE users SET document = left(document, 20)",
  ],
  [
    "a key of another organization",
    "api_keys",
    /number \d+ of "default": belongs to "other"/,
    `UPDATE api_keys SET document = replace(document, '"default"', '"other"')`,
  ],
  [
    "a rollout without a state",
    "rollouts",
    /number \d+ of "default": .*required/,
    `INSERT INTO rollouts (organization_id, id, is_open, document)
     VALUES ('default', 'r1', false, '{"id": "r1"}')`,
  ],
  [
    "half an activity entry",
    "activity",
    /number \d+ of "default": .*JSON/,
    "UPDATE activity SET entry = left(entry, 20) WHERE number = (SELECT max(number) FROM activity)",
  ],
  [
    "a partition too few",
    "audit_partitions",
    /2026-11-20: has no partition/,
    "DROP TABLE audit_events_20261120",
  ],
  [
    "an unfinished move",
    "deployment",
    /a move into this database is not finished/,
    "INSERT INTO deployment (name, value) VALUES ('move', 'x')",
  ],
];

/** A copy of the database, in which a statement was run. */
async function changed(statement: string): Promise<string> {
  const cluster = await sharedCluster();
  const [name, copy] = [new URL(template).pathname.slice(1), `verify_${++copies}`];
  await cluster.sql(`CREATE DATABASE ${copy} TEMPLATE ${name}`);
  await cluster.sql(statement, copy);
  return cluster.url(copy);
}

let copies = 0;

test("an intact database passes, and DATABASE_URL names it", { skip }, async (t) => {
  const { code, out, error } = await run(["verify", "--database", template]);
  assert.deepEqual([code, error], [0, ""], out);
  assert.equal(out, "1 organization, 10 audit events: all is well\n");
  process.env["DATABASE_URL"] = template;
  t.after(() => delete process.env["DATABASE_URL"]);
  assert.deepEqual(JSON.parse((await run(["verify", "--json"])).out), {
    ...{ ok: true, problems: [], notes: [], organizations: 1, events: 10 },
  });
});

for (const [what, table, said, statement] of FAULTS) {
  test(`${what} is found and reported in ${table}`, { skip }, async () => {
    const { code, out } = await run(["verify", "--json", "--database", await changed(statement)]);
    assert.equal(code, 1);
    const { ok, problems } = JSON.parse(out);
    assert.equal(ok, false);
    const own = problems.filter((one: { table: string }) => one.table === table);
    assert.match(own.map(({ problem }: { problem: string }) => problem).join("\n"), said);
  });
}

test("a policy version without an activity entry is noted", { skip }, async () => {
  const url = await changed(`DELETE FROM activity WHERE entry LIKE '%"id":"v2"%'`);
  const { code, out } = await run(["verify", "--database", url]);
  assert.equal(code, 0);
  assert.match(out, /^note: activity: no entry says who published "v2" of "default"$/m);
});

test("a database without our tables is not changed", { skip }, async () => {
  const url = await createDatabase("empty");
  const { code, error } = await run(["verify", "--database", url]);
  assert.equal(code, 1);
  assert.match(error, /--database: the database has no tables of this version: start a server/);
  const database = await openDatabase(url, 2);
  assert.deepEqual(await database.query("SELECT to_regclass('leases') AS leases"), [
    { leases: null },
  ]);
  await database.close();
});
