/** Settings of a database, or of its user, that change what statements mean do not change any answer. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { DAY_MS } from "../../../src/core/clock.ts";
import { openPostgresEngine } from "../../../src/storage/postgres/engine.ts";
import { run } from "../../support/command-line.ts";
import { retain, sweep } from "../../../src/storage/postgres/audit/retention.ts";
import {
  createDatabase,
  openDatabase,
  statementsAt,
  withoutPostgres,
} from "../../support/postgres.ts";
import { start } from "../../support/start.ts";
import { silent } from "../../support/silent-log.ts";

const V1 = "/api/v1";
const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ["array_nulls", "off"],
  ["bytea_output", "escape"],
  ["datestyle", "'SQL, DMY'"],
  ["extra_float_digits", "'-15'"],
  ["intervalstyle", "sql_standard"],
  ["standard_conforming_strings", "off"],
  ["timezone", "'Pacific/Kiritimati'"],
];

const EVENTS = ["NULL", "a\\b", "{x}", "\u0000", "it's", "%_\\_"].flatMap((text, n) => [
  { id: `a${n}`, command: text, provider: text, executor: text, policy_decision: "DENIED" },
  { id: `b${n}`, command: text, reason: text },
]);

const PATHS = [
  "audit?limit=3&offset=2",
  "audit?decision=DENIED",
  "audit?q=a%5Cb",
  "audit?q=%25_%5C",
  "audit?executor=NULL",
  "audit/facets",
  "audit/histogram?from=2026-11-19T00:00:00Z&to=2026-11-23T00:00:00Z&interval=1h",
  "audit/export?format=ndjson",
  "providers",
  "overview",
  "fleet",
];

/** Answers over a database that has some of its settings changed. */
async function answersWith(
  t: TestContext,
  settings: typeof SETTINGS,
): Promise<readonly (readonly unknown[])[]> {
  const url = await createDatabase("empty");
  for (const [name, value] of settings) {
    const database = new URL(url).pathname.slice(1);
    await statementsAt(url, `ALTER DATABASE ${database} SET ${name} = ${value}`);
  }
  const shape = { checkpointSeconds: 86_400 };
  const app = await start(t, shape, undefined, (parts) =>
    openPostgresEngine({
      ...parts,
      config: { ...parts.config, databaseUrl: url, databasePoolSize: 4 },
    }),
  );
  for (let days = 0; days < 3; days++) {
    const events = EVENTS.map((event) => ({ ...event, id: `${event.id}-${days}` }));
    assert.equal((await app.post(`${V1}/audit`, { events })).status, 202);
    app.advance(DAY_MS);
  }
  await app.post(`${V1}/fleet/heartbeat`, { name: "build-1" });
  const answers: (readonly unknown[])[] = [];
  for (const path of PATHS) {
    const { status, text } = await app.get(`${V1}/${path}`);
    answers.push([path, status, text]);
  }
  await app.close();
  const key = (await run(["log-key", "signalbox/default/audit", "--database", url])).out.trim();
  const verified = await run(["verify", "--database", url, "--key", key]);
  answers.push(["verify", verified.code, verified.out]);
  const database = await openDatabase(url, 2);
  await retain(database, undefined, app.now - 2 * DAY_MS, silent);
  await sweep(database, 0);
  const partitions = "SELECT to_char(day, 'YYYYMMDD') AS day FROM audit_partitions ORDER BY 1";
  answers.push(["partitions", await database.query(partitions)]);
  await database.close();
  return answers;
}

let plain: Promise<readonly (readonly unknown[])[]> | undefined;

for (const [name, value] of SETTINGS) {
  test(`${name} of the database changes no answer`, { skip: withoutPostgres }, async (t) => {
    const expected = await (plain ??= answersWith(t, []));
    assert.deepEqual(await answersWith(t, [[name, value]]), expected);
  });
}
