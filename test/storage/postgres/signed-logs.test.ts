/** Signed logs over PostgreSQL: several servers, cuts between steps, and what `verify --database` finds. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { DAY_MS, SECOND_MS } from "../../../src/core/clock.ts";
import { openCheckpoint } from "../../../src/proof/checkpoint.ts";
import { newPrivateKey, openNote, parseVkey, pemOf, vkeyOf } from "../../../src/proof/note.ts";
import { verifyProof } from "../../../src/proof/tlog-proof.ts";
import type { Database, Statements } from "../../../src/storage/postgres/database.ts";
import { sharedLogKey } from "../../../src/storage/postgres/proof/log-key.ts";
import { LogSigner } from "../../../src/storage/postgres/proof/signer.ts";
import { sweep } from "../../../src/storage/postgres/audit/retention.ts";
import { openPostgresEngine } from "../../../src/storage/postgres/engine.ts";
import { run } from "../../support/command-line.ts";
import {
  Cluster,
  createDatabase,
  openDatabase,
  sharedCluster,
  statementsAt,
  withoutPostgres,
} from "../../support/postgres.ts";
import { newDirectory } from "../../support/server-process.ts";
import { startThree } from "../../support/servers.ts";
import { start, type App, type Scope, type Settings } from "../../support/start.ts";
import { silent } from "../../support/silent-log.ts";

const skip = withoutPostgres;
const V1 = "/api/v1";
const ON = { checkpointSeconds: 86_400 } as const;
const NAME = "signalbox/default/audit";

const batch = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ id: `e${from + n}`, command: `echo ${from + n}` }));

function startAt(t: Scope, databaseUrl: string, settings: Settings = {}): Promise<App> {
  return start(t, { ...ON, ...settings }, undefined, (parts) =>
    openPostgresEngine({
      ...parts,
      config: { ...parts.config, databaseUrl, databasePoolSize: 4 },
    }),
  );
}

async function keyAt(url: string): Promise<string> {
  const { code, out, error } = await run(["log-key", NAME, "--database", url]);
  assert.equal(code, 0, error);
  return out.trim();
}

interface Report {
  readonly ok: boolean;
  readonly problems: readonly { readonly table: string; readonly problem: string }[];
  readonly logs: readonly {
    readonly log: string;
    readonly first: number;
    readonly events: number;
    readonly covered: number;
  }[];
}

/** The findings of `verify` with the key of a database, and with kept checkpoints. */
async function verify(url: string, ...more: string[]): Promise<Report> {
  const key = await keyAt(url);
  const { out, error } = await run(["verify", "--database", url, "--key", key, ...more, "--json"]);
  assert.equal(error, "");
  return JSON.parse(out) as Report;
}

/** A database with 300 signed events, 20 later ones that are signed too, and three unsigned ones; no server runs. */
async function makeDatabase(url: string): Promise<{ readonly url: string; readonly note: string }> {
  const app = await startAt({ after }, url);
  for (const version of ["v1", "v2", "v3"]) {
    await app.post(`${V1}/policies`, { version, yaml: "rules: []" });
  }
  await app.post(`${V1}/audit`, { events: batch(300) });
  const { text: note } = await app.get(`${V1}/audit/checkpoint`);
  await app.post(`${V1}/audit`, { events: batch(20, 300) });
  await app.restart({ checkpointSeconds: 0 }); // the stop signs
  await app.post(`${V1}/audit`, { events: batch(3, 320) });
  await app.close();
  return { url, note };
}

const template =
  skip === false ? await makeDatabase(await createDatabase()) : { url: "", note: "" };

/** A copy of a database that no server uses. */
async function copyOf(url: string): Promise<string> {
  const cluster = await sharedCluster();
  const copy = await createDatabase("empty");
  const [name, from] = [copy, url].map((one) => new URL(one).pathname.slice(1));
  await cluster.sql(`DROP DATABASE ${name}`);
  await cluster.sql(`CREATE DATABASE ${name} TEMPLATE ${from}`);
  return copy;
}

test(
  "an untouched database is confirmed, with a connection that only reads",
  { skip },
  async () => {
    const { problems, logs } = await verify(template.url);
    assert.deepEqual(problems, []);
    assert.deepEqual(logs, [
      { organization: "default", log: "audit", first: 0, events: 323, covered: 320 },
      { organization: "default", log: "activity", first: 0, events: 3, covered: 3 },
    ]);
  },
);

const SWAP = `UPDATE audit_events a SET line = b.line FROM audit_events b
  WHERE a.seq IN (5, 9) AND b.seq = 14 - a.seq`;

/** A forgery, the table that it is in, what is found, and the statements that make it. */
const FORGERIES: readonly (readonly [string, string, RegExp, string])[] = [
  [
    "a changed event",
    "audit_events",
    /row 8: is not event 7: its leaf is \S+=, expected \S+=/,
    `UPDATE audit_events SET line = replace(line, 'echo 7', 'echo 0') WHERE seq = 8`,
  ],
  [
    "a changed event after the last full tile",
    "audit_events",
    /row 311: is not event 310/,
    `UPDATE audit_events SET line = replace(line, 'echo 310', 'echo 0') WHERE seq = 311`,
  ],
  [
    "a removed event",
    "audit_events",
    /before row 9: event 7 is missing/,
    `DELETE FROM audit_events WHERE seq = 8`,
  ],
  [
    "removed events at the end",
    "audit_events",
    /events 318 to 319 are missing|the log ends after 318 events/,
    `DELETE FROM audit_events WHERE seq > 318; UPDATE audit_heads SET last_seq = 318`,
  ],
  [
    "removed events at the beginning",
    "audit_events",
    /before row 4: events 0 to 2 are missing/,
    `DELETE FROM audit_events WHERE seq <= 3`,
  ],
  [
    "an added event, under a number that was taken",
    "audit_events",
    /row 8: was added/,
    `CREATE TABLE audit_events_20261119 (LIKE audit_events INCLUDING DEFAULTS);
     ALTER TABLE audit_events ATTACH PARTITION audit_events_20261119 FOR VALUES IN ('2026-11-19');
     INSERT INTO audit_events (organization_id, seq, day, time_ms, bytes, ai, search, line)
     SELECT organization_id, seq, '2026-11-19', time_ms, bytes, ai, search, '{"id":"x"}' FROM audit_events WHERE seq = 8`,
  ],
  [
    "swapped events",
    "audit_events",
    /row 5: is event 8, which was moved here|row 5: is not event 4/,
    SWAP,
  ],
  [
    "a changed event with its hash",
    "audit_events",
    /rows 1 to 300: events 0 to 299 are not those of the checkpoint of 300 events/,
    `UPDATE audit_events SET line = replace(line, 'echo 7', 'echo 0') WHERE seq = 8;
     UPDATE log_tiles SET hashes = overlay(hashes PLACING (SELECT sha256('\\x00'::bytea || sha256(convert_to(line, 'UTF8')))
       FROM audit_events WHERE seq = 8) FROM 7 * 32 + 1) WHERE log = 'audit' AND level = 0 AND tile = 0`,
  ],
  [
    "a changed hash",
    "log_tiles",
    /^tile 0: is not that of the events/,
    `UPDATE log_tiles SET hashes = overlay(hashes PLACING '\\x01' FROM 1) WHERE log = 'audit' AND level = 0 AND tile = 0`,
  ],
  [
    "a changed checkpoint",
    "log_checkpoints",
    /audit 1: the signature of \S+ is wrong/,
    `UPDATE log_checkpoints SET note = replace(note, '300', '299') WHERE log = 'audit' AND number = 1`,
  ],
  [
    "a changed entry of the activity log",
    "activity",
    /row 2: is not event 1/,
    `UPDATE activity SET entry = replace(entry, 'v2', 'v9') WHERE number = (SELECT min(number) + 1 FROM activity)`,
  ],
];

for (const [what, table, found, statements] of FORGERIES) {
  test(`verify finds ${what}, and names its place`, { skip }, async () => {
    const url = await copyOf(template.url);
    await statementsAt(url, statements);
    const { ok, problems } = await verify(url);
    assert.equal(ok, false);
    const own = problems.filter((one) => one.table.startsWith(`${table} of "default"`));
    assert.match(own.map(({ problem }) => problem).join("\n"), found);
  });
}

test(
  "events, tree and checkpoints that were put back together contradict a kept one",
  { skip },
  async (t) => {
    const url = await createDatabase();
    const app = await startAt(t, url);
    await app.post(`${V1}/audit`, { events: batch(10) });
    await app.close();
    const old = await copyOf(url);
    await app.open();
    await app.post(`${V1}/audit`, { events: batch(5, 10) });
    const kept = join(await newDirectory(t), "kept");
    const proof = (await app.get(`${V1}/audit/e14/proof`)).text;
    await writeFile(kept, proof.slice(proof.indexOf("signalbox/default/audit\n")));
    await app.close();
    assert.equal((await verify(url, "--checkpoint", kept)).ok, true);
    assert.deepEqual((await verify(old)).problems, []);
    const { problems } = await verify(old, "--checkpoint", kept);
    assert.match(
      JSON.stringify(problems),
      /the log ends after 10 events, and the checkpoint in .*kept is of 15/,
    );
  },
);

test(
  "three servers that sign at once share one key and contradict nothing",
  { skip },
  async (t) => {
    const url = await createDatabase();
    const servers = await startThree(t, ON, url);
    const vkeys = await Promise.all(servers.map((one) => one.get(`${V1}/audit/verifier`)));
    const [vkey = ""] = vkeys.map(({ text }) => text.trim());
    for (const { text } of vkeys) assert.equal(text.trim(), vkey);
    for (let round = 0; round < 4; round++) {
      const ids = servers.map((_, n) => round * 30 + n * 10);
      await Promise.all(
        servers.map((one, n) => one.post(`${V1}/audit`, { events: batch(10, ids[n]) })),
      );
      for (const one of servers) one.advance(SECOND_MS);
      const proofs = await Promise.all(
        servers.map(async (one, n) => {
          const { text, status } = await one.get(`${V1}/audit/e${ids[n]}/proof`);
          assert.equal(status, 200, text);
          const line = Buffer.from((await one.get(`${V1}/audit/e${ids[n]}`)).text);
          return verifyProof(text, line, parseVkey(vkey)).index;
        }),
      );
      assert.equal(new Set(proofs).size, 3);
    }
    for (const one of servers) assert.equal((await one.get("/health")).body.status, "ok");
    await Promise.all(servers.map((one) => one.close()));
    const { problems, logs } = await verify(url);
    assert.deepEqual(problems, []);
    assert.deepEqual([logs[0]?.events, logs[0]?.covered], [120, 120]);
  },
);

test("a contradiction that one server finds is told by all, once", { skip }, async (t) => {
  const url = await createDatabase();
  const [one, two, three] = await startThree(t, { ...ON, metrics: "open" }, url);
  await one.post(`${V1}/audit`, { events: batch(5) });
  assert.equal((await one.get(`${V1}/audit/e4/proof`)).status, 200);
  await statementsAt(
    url,
    `DELETE FROM audit_events WHERE seq = 5; UPDATE audit_heads SET last_seq = 4`,
  );
  for (const server of [one, two, three]) {
    server.advance(SECOND_MS);
    await server.post(`${V1}/policies`, { yaml: "rules: []" });
  }
  await two.post(`${V1}/audit`, { events: [] }).catch(() => {});
  await one.restart(); // a stop signs what has changed
  for (const server of [one, two, three]) {
    assert.equal((await server.get("/health")).body.status, "degraded");
    assert.match((await server.get("/metrics")).text, /^signalbox_contradicted_logs 1$/m);
    const { entries, total } = (await server.get(`${V1}/activity?action=log.contradicted`)).body;
    assert.equal(total, 1);
    assert.equal(entries[0].after.reason, "the log ends at row 4, and row 5 was signed");
  }
  await two.post(`${V1}/audit`, { events: batch(5, 5) });
  assert.equal((await two.get(`${V1}/audit/e8/proof`)).status, 409);
  const { text } = await two.get(`${V1}/audit/checkpoint`);
  assert.equal(openCheckpoint(text, [parseVkey(await keyAt(url))]).size, 5);
});

test(
  "what retention removes stays in the tree, between events that stay too",
  { skip },
  async (t) => {
    const url = await createDatabase();
    const app = await startAt(t, url, { auditRetentionDays: 5 });
    await app.post(`${V1}/audit`, { events: batch(300) });
    // The next day begins while events of this one are still under way.
    await statementsAt(
      url,
      `CREATE TABLE part (LIKE audit_events); INSERT INTO part SELECT * FROM audit_events WHERE seq = 299;
     DELETE FROM audit_events WHERE seq = 299; UPDATE part SET day = '2026-11-21';
     INSERT INTO audit_events SELECT * FROM part; DROP TABLE part;
     INSERT INTO audit_days (organization_id, day, decision, consumer, events, bytes, oldest_ms, newest_ms, last_seq)
     SELECT organization_id, '2026-11-21', decision, consumer, 1, 1, oldest_ms, newest_ms, 299 FROM audit_days LIMIT 1`,
    );
    app.advance(DAY_MS);
    await app.post(`${V1}/audit`, { events: batch(20, 300) });
    const proof = (await app.get(`${V1}/audit/e7/proof`)).text;
    const line = (await app.get(`${V1}/audit/e7`)).text;
    app.advance(5 * DAY_MS);
    await app.restart(); // retention runs at a start
    const database = await openDatabase(url, 2);
    t.after(() => database.close());
    await app.restart();
    await sweep(database, 0);
    assert.equal((await database.query("SELECT FROM audit_events")).length, 21);
    assert.equal((await app.get(`${V1}/audit/e7/proof`)).status, 404);
    await app.post(`${V1}/audit`, { events: batch(1, 320) });
    await app.close();
    const { problems, logs } = await verify(url);
    const ofTree = problems.filter(({ table }) => table.endsWith('of "default"'));
    assert.deepEqual(ofTree, []);
    assert.deepEqual([logs[0]?.first, logs[0]?.events, logs[0]?.covered], [300, 321, 321]);
    assert.equal(verifyProof(proof, Buffer.from(line), parseVkey(await keyAt(url))).index, 7);
    await statementsAt(
      url,
      `UPDATE audit_events SET line = replace(line, 'echo 298', 'x') WHERE seq = 299`,
    );
    assert.match(
      JSON.stringify((await verify(url)).problems),
      /row 299: is not the event that was signed/,
    );
  },
);

test("an entry that commits late is signed in the place of its number", { skip }, async (t) => {
  const url = await createDatabase();
  const app = await startAt(t, url);
  await app.post(`${V1}/policies`, { version: "v1", yaml: "rules: []" });
  const database = await openDatabase(url, 2);
  t.after(() => database.close());
  const late = await database.begin();
  const [first] = (await app.get(`${V1}/activity`)).body.entries;
  const entry = JSON.stringify({ ...first, id: "late" });
  await late.run(
    "INSERT INTO activity (organization_id, timestamp, entry) VALUES ('default', '', $1)",
    [entry],
  );
  await app.post(`${V1}/policies`, { version: "v2", yaml: "rules: []" });
  const [newest] = (await app.get(`${V1}/activity`)).body.entries;
  const proving = app.get(`${V1}/activity/${newest.id}/proof`);
  await Promise.race([proving, new Promise((resolve) => setImmediate(resolve))]);
  await late.commit();
  const { text, status } = await proving;
  assert.equal(status, 200, text);
  const vkey = parseVkey((await app.get(`${V1}/activity/verifier`)).text.trim());
  assert.equal(verifyProof(text, Buffer.from(JSON.stringify(newest)), vkey).index, 2);
  await app.close();
  assert.deepEqual((await verify(url)).problems, []);
});

test("a standby is checked like its primary", { skip }, async (t) => {
  // A copy of the shared cluster would have all databases of the tests.
  const primary = await Cluster.start({ fsync: false });
  t.after(() => primary.remove());
  await makeDatabase(primary.url("postgres"));
  const replica = await Cluster.replicaOf(primary);
  t.after(() => replica.remove());
  const url = replica.url("postgres");
  const { problems, logs } = await verify(url);
  assert.deepEqual([problems, logs[0]?.covered], [[], 320]);
});

test("prove answers from the database, and verifies with its key", { skip }, async (t) => {
  const { url } = template;
  const directory = await newDirectory(t);
  const [event, out] = [join(directory, "event"), join(directory, "proof")];
  const key = await keyAt(url);
  const proved = await run([
    "prove",
    "e5",
    "--database",
    url,
    "--key",
    key,
    "--event",
    event,
    "--out",
    out,
  ]);
  assert.equal(proved.code, 0, proved.error);
  const verified = await run(["verify-proof", out, "--event", event, "--key", key]);
  assert.equal(verified.code, 0, verified.error);
  const newer = await run(["prove", "e322", "--database", url]);
  assert.match(newer.error, /newer than the last checkpoint/);
});

/** A database whose statements fail after some of them, as if its server was killed there. */
function cutAfter(database: Database, statements: number): Database {
  let left = statements;
  const step = (): void => {
    if (left-- <= 0) throw new Error("cut");
  };
  const cut = (own: Statements): Statements => ({
    query: async (...args) => (step(), own.query(...args)),
    run: async (...args) => (step(), own.run(...args)),
  });
  const transaction: Database["transaction"] = (work) =>
    database.transaction((own) => work(cut(own)));
  const methods = { ...cut(database), transaction };
  return new Proxy(database, {
    get: (_, name) => methods[name as keyof typeof methods],
  });
}

test(
  "a server that dies between any two statements leaves a log that goes on",
  { skip },
  async (t) => {
    const url = await createDatabase();
    const app = await startAt(t, url, { checkpointSeconds: 0 });
    const database = await openDatabase(url, 2);
    const key = await sharedLogKey(database);
    t.after(() => database.close());
    const failures: unknown[] = [];
    const signer = async (over: Database): Promise<void> => {
      const opened = await LogSigner.open({
        ...{ database, now: () => app.now, ids: () => "id", host: "signalbox", seconds: 86_400 },
        ...{
          keys: { key, earlier: [] },
          log: silent,
        },
        database: over,
      }).catch((error: unknown) => void failures.push(error));
      await opened?.round();
      await opened?.close();
    };
    let cuts = 0;
    for (let isCut = true; isCut; cuts++) {
      await app.post(`${V1}/audit`, { events: batch(20, cuts * 20) });
      await database.run("DELETE FROM leases");
      await signer(cutAfter(database, cuts));
      const [tree] = await database.query<{ size: number }>(
        "SELECT size FROM log_trees WHERE log = 'audit'",
      );
      isCut = tree?.size !== (cuts + 1) * 20;
      if (cuts % 2 === 0) await signer(database);
    }
    await app.close();
    assert.ok(cuts > 15);
    const { problems, logs } = await verify(url);
    assert.deepEqual(problems, []);
    assert.deepEqual([logs[0]?.events, logs[0]?.covered], [cuts * 20, cuts * 20]);
    assert.deepEqual(
      await database.query("SELECT FROM log_trees WHERE contradiction IS NOT NULL"),
      [],
    );
  },
);

test("a checkpoint from before a move vouches after it, there and back", { skip }, async (t) => {
  const app = await start(t, ON);
  await app.post(`${V1}/policies`, { version: "v1", yaml: "rules: []" });
  await app.post(`${V1}/audit`, { events: batch(300) });
  const kept = join(await newDirectory(t), "kept");
  const notes = [
    await app.get(`${V1}/audit/checkpoint`),
    await app.get(`${V1}/activity/checkpoint`),
  ];
  await writeFile(kept, notes.map(({ text }) => text).join("\n"));
  const vkey = (await app.get(`${V1}/audit/verifier`)).text.trim();
  await app.close();
  const url = await createDatabase("empty");
  const move = async (from: string, to: string): Promise<void> => {
    const moved = await run(["move", "--from", from, "--to", to]);
    assert.equal(moved.code, 0, moved.error);
  };
  await move(app.dataDir, url);
  assert.equal(await keyAt(url), vkey);
  const there = await startAt(t, url);
  await there.post(`${V1}/audit`, { events: batch(10, 300) });
  await there.close();
  const { problems, logs } = await verify(url, "--checkpoint", kept);
  assert.deepEqual([problems, logs[0]?.covered], [[], 310]);
  const back = join(await newDirectory(t), "back");
  await move(url, back);
  const verified = await run(["verify", back, "--key", vkey, "--checkpoint", kept]);
  assert.equal(verified.code, 0, verified.out);
  assert.match(verified.out, /default audit: 310 events, 300 confirmed by checkpoints/);
});

test(
  "a new LOG_SIGNING_KEY signs once together with the key of the database",
  { skip },
  async (t) => {
    const url = await createDatabase();
    const app = await startAt(t, url);
    await app.post(`${V1}/audit`, { events: batch(3) });
    const old = parseVkey((await app.get(`${V1}/audit/verifier`)).text.trim());
    assert.equal((await app.get(`${V1}/audit/e2/proof`)).status, 200);
    await app.restart({ logSigningKey: pemOf(newPrivateKey()) });
    const vkey = (await app.get(`${V1}/audit/verifier`)).text.trim();
    const { text } = await app.get(`${V1}/audit/checkpoint`);
    assert.equal(openNote(text, [old, parseVkey(vkey)]).signers.length, 2);
    await app.post(`${V1}/audit`, { events: batch(3, 3) });
    await app.close();
    const checked = await run(["verify", "--database", url, "--key", vkeyOf(old), "--key", vkey]);
    assert.equal(checked.code, 0, checked.out);
    assert.match(checked.out, /default audit: 6 events, 6 confirmed by checkpoints/);
  },
);
