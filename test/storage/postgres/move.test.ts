/** Moves a directory full of odd things into a database and back, whole and cut off. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import { appendFile, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { move } from "../../../src/cli/move/move.ts";
import { configFromOptions } from "../../../src/config.ts";
import { DAY_MS } from "../../../src/core/clock.ts";
import { createLog } from "../../../src/core/log.ts";
import type { Engine, OpenEngine } from "../../../src/engine.ts";
import { routes } from "../../../src/routes.ts";
import { Layout } from "../../../src/storage/layout.ts";
import { openEngine } from "../../../src/open-engine.ts";
import { run } from "../../support/command-line.ts";
import {
  createDatabase,
  openDatabase,
  sharedCluster,
  withoutPostgres,
} from "../../support/postgres.ts";
import { newDirectory } from "../../support/server-process.ts";
import { ADMIN, ADMIN_SETTINGS, start, START_TIME, type App } from "../../support/start.ts";

const skip = withoutPostgres;
const CLI = fileURLToPath(new URL("../../../dist/cli.js", import.meta.url));
const SETTINGS = { ...ADMIN_SETTINGS, auditSegmentBytes: 64 << 10, jwtExpiryHours: 500 };

/** Opens an engine over a directory or a database. */
function openAt(place: string, isMove?: true): Promise<Engine> {
  const isDatabase = place.startsWith("postgres:");
  const config = configFromOptions(
    isDatabase ? { databaseUrl: place, databasePoolSize: 8 } : { dataDir: place },
  );
  const now = (): number => Date.parse(START_TIME);
  const log = createLog("silent", now, () => {});
  return openEngine({ config, now, log, ...(isMove && { isMove }) });
}

/** Starts the service over a directory or a database. */
function startAt(t: Parameters<typeof start>[0], place: string): Promise<App> {
  const open: OpenEngine = (parts) => {
    const own = place.startsWith("postgres:")
      ? { databaseUrl: place, databasePoolSize: 4 }
      : { dataDir: place };
    return openEngine({ ...parts, config: { ...parts.config, ...own } });
  };
  return start(t, { auditSegmentBytes: 64 << 10 }, undefined, open);
}

/** The names of runtimes that have fetched the version of the open rollout. */
const FETCHED = ["r\u0000", "r1", "r\ufde0"];
const LONG = "long ".repeat(150_000);
/** As an editor or another program could have written it: with other spaces, escapes and numbers. */
const BY_HAND =
  '{"organization_id":"default", "id":"by-hand",  "timestamp":"2026-11-01T00:00:00.000Z",' +
  '"ingested_at":"2026-11-01T00:00:01.000Z","command":"caf\\u00e9 \\u0000 \\ud800","consumer":"ai",' +
  '"ai":true,"status":"ok",  "duration_ms": 1e3 }';

/** Makes a directory with something of everything, and gives it with the headers of an admin. */
async function makeSource(): Promise<{ app: App; admin: Record<string, string> }> {
  const app = await start({ after }, SETTINGS);
  const admin = await app.asUser(ADMIN);
  const post = (path: string, body: object, headers = admin) =>
    app.post(`/api/v1${path}`, body, headers);
  const activate = (version: string) => post(`/policies/${version}/activate`, {});
  for (const version of ["v1", "v2", "v 3 é"]) {
    await post("/policies", { version, yaml: `a: "${version}"`, description: "ö" });
    app.advance(1_000);
  }
  await activate("v1");
  app.advance(1_000);
  await activate("v2");
  app.advance(1_000);
  await post("/policies", { version: "v4", yaml: "b: 1", name: "other", updated_by: "eve" });
  await post("/policies", { version: "v5", yaml: "b: 2", activate: false });
  app.advance(1_000);
  await activate("v1");
  const stages = [{ labels: { constructor: "é" }, gates: { max_offline: 0 } }, { percent: 5 }];
  const first = await post("/rollouts", { version: "v5", stages });
  await post(`/rollouts/${first.body.id}/roll_back`, {});
  const second = await post("/rollouts", {
    version: "v5",
    stages: [{ names: ["r\u0000", "r1"] }, ...stages],
  });
  assert.equal(second.status, 201);
  await post("/api-keys", { name: "ends", scopes: "report", expires_in_days: 1 });
  const { id } = await app.createKey("revoked", admin);
  await app.delete(`/api/v1/api-keys/${id}`, admin);
  const used = await app.createKey("used", admin);
  await app.get("/api/v1/policies", used.key);
  for (const email of ["bob@example.com", "Ada@Example.com"]) {
    await app.createUser({ email }, admin);
  }
  const gone = await app.createUser({ email: "gone@example.com" }, admin);
  await app.delete(`/api/v1/users/${gone.id}`, admin);
  const settings = ["z", "a", "\u0000"].map((key) => ({ key, value: `${key}\ufde0😀` }));
  assert.equal((await app.put("/api/v1/settings", { settings }, admin)).status, 200);
  await app.put("/api/v1/providers/git", { status: "degraded" }, admin);
  const acme = await app.createOrganization("Acme", admin);
  const asAcme = acme.admin as typeof admin;
  await post("/policies", { version: "z", yaml: "acme: 1" }, asAcme);
  await post("/policies", { version: "a", yaml: "acme: 2", activate: false }, asAcme);
  for (const name of ["r1", "r\u0000", "r\ud800", "r1", "r3"]) {
    await post("/fleet/heartbeat", { name, hostname: "", policy_version: "v4" });
    app.advance(500);
  }
  await post("/fleet/heartbeat", { name: "r3", labels: { z: "1", constructor: "é" } });
  const oldest = Array.from({ length: 100 }, (_, i) => ({
    command: `git ${i} ${"x".repeat(900)}`,
  }));
  await post("/audit", { events: oldest });
  app.advance(3 * DAY_MS);
  await post("/audit", { events: oldest.slice(0, 90) });
  const odd = ["\u0000", "\ud800", "\udc00x", '"\\\n', "\ufde0\ufdd0", "İ ΑΣ", LONG];
  for (const [i, command] of odd.entries()) {
    const event = { command, executor: command.slice(0, 9), provider: command.slice(0, 99) };
    const id = `!"#%&'()*+,/:;<=>?@[]^\`{|}~\\${i}`;
    await post("/audit", { id, ...event, policy_decision: i % 2 ? "DENIED" : "ALLOWED" });
    await app.post("/api/public/audit", { ...event, id, timestamp: "2026-11-19T10:00:30.5Z" });
    await post("/audit", { command, trace_id: command }, acme.admin as typeof admin);
  }
  await app.close();
  const engine = await openAt(app.dataDir);
  const removed = await engine.stores.audit.retain("default", Date.parse(START_TIME) + DAY_MS);
  assert.ok((removed[0]?.events ?? 0) > 0);
  const [open] = await engine.stores.rollouts.list("default");
  await engine.stores.rollouts.addFetched("default", open?.id ?? "", FETCHED);
  await engine.close();
  const audit = join(app.dataDir, "organizations/default/audit");
  const segments = (await readdir(audit)).filter((name) => name.endsWith(".jsonl")).sort();
  await appendFile(join(audit, segments.at(-1) ?? ""), `${BY_HAND}\r\nno event\n`);
  return { app, admin: admin as Record<string, string> };
}

const source = skip === false ? await makeSource() : undefined;
const shown = { id: "", audit: "" };

/** A path of each route that reads, with parameters that lead to something. */
const PATHS = routes
  .filter(({ method }) => method === "GET")
  .flatMap(({ path, surfaces }) => surfaces.map((surface) => [surface, path] as const));

/** Calls every route that reads, and returns the answers without the values that differ between processes. */
async function answersOf(app: App, headers: Record<string, string>): Promise<readonly string[]> {
  const users = await app.get("/api/v1/users", headers);
  shown.id = users.body.users?.[0]?.id ?? users.body[0]?.id;
  const answers: string[] = [];
  for (const [surface, path] of PATHS) {
    if (!["public", "v1"].includes(surface)) continue;
    if (/stream|export|metadata|health|ready|version$|openapi|catalog|tickets/.test(path)) continue;
    const filled = path
      .replace("/policies/{version}", "/policies/v1")
      .replace("/organizations/{id}", "/organizations/acme")
      .replace("/audit/{id}", "/audit/by-hand")
      .replace("{id}", shown.id);
    const prefix = surface === "v1" ? "/api/v1" : "/api/public";
    const answer = await app.get(`${prefix}${filled}`, surface === "v1" ? headers : {});
    answers.push(`${surface} ${filled} ${answer.status} ${answer.text}`);
  }
  for (const query of ["limit=200", "q=x&limit=3", "decision=DENIED", "q=%00", "offset=90"]) {
    const { body } = await app.get(`/api/v1/audit?${query}`, headers);
    answers.push(JSON.stringify({ ...body, next_cursor: typeof body.next_cursor }));
  }
  for (const format of ["json", "jsonl", "csv"]) {
    answers.push((await app.get(`/api/v1/audit/export?format=${format}`, headers)).text);
  }
  // The engines separate lines differently, and each has its own positions.
  return answers.map((text) =>
    text
      .replaceAll(/"next_cursor":"[^"]*"/g, '"next_cursor":""')
      .replace(/"bytes":\d+,"oldest/, ""),
  );
}

test(
  "a server answers the same after a move into a database, and after one back",
  { skip },
  async (t) => {
    const { app, admin } = source as NonNullable<typeof source>;
    const url = await createDatabase("empty");
    const back = join(await newDirectory(t), "data");
    const there = await run(["move", "--from", app.dataDir, "--to", url]);
    assert.deepEqual([there.code, there.error.includes("1 damaged lines")], [0, true], there.error);
    const again = await run(["move", `--from=${url}`, `--to=${back}`]);
    assert.equal(again.code, 0, again.error);
    assert.equal(again.out, there.out); // with the same digests
    assert.match(there.out, /^Moved 2 organizations: source and target are the same$/m);
    for (const place of [url, back]) {
      const engine = await openAt(place);
      const [open] = await engine.stores.rollouts.list("default");
      const fetched = await engine.stores.rollouts.fetched("default", open?.id ?? "");
      assert.deepEqual([...fetched].sort(), FETCHED);
      await engine.close();
    }
    const ours = [];
    for (const place of [app.dataDir, url, back]) {
      const server = await startAt(t, place);
      server.advance(app.now - server.now);
      ours.push(await answersOf(server, admin)); // a token that the source has signed
      await server.close();
    }
    const [first = [], second = [], third = []] = ours;
    assert.ok(first.length > 30 && first.some((text) => text.includes(BY_HAND)));
    for (const [i, answer] of first.entries()) {
      assert.equal(second[i], answer);
      assert.equal(third[i], answer);
    }
    assert.equal((await run(["verify", "--database", url])).out.split(": ")[1], "all is well\n");
    assert.equal((await run(["verify", back])).code, 0);
  },
);

test(
  "a move that is cut off after any portion goes on, and stores nothing twice",
  { skip },
  async (t) => {
    const { app } = source as NonNullable<typeof source>;
    const folder = await newDirectory(t);
    const database = await createDatabase("empty");
    const ends = [
      [app.dataDir, database],
      [database, join(folder, "data")],
    ] as const;
    const digests = [];
    for (const [from, to] of ends) {
      const origin = await openAt(from);
      let moved;
      for (let cut = 1; moved === undefined; cut++) {
        let told = 0;
        const progress = (): void => {
          if (++told === cut) throw new Error("cut off");
        };
        moved = await move(origin, () => openAt(to, true), progress).catch((error: Error) => {
          assert.equal(error.message, "cut off");
        });
        if (moved === undefined) await assert.rejects(openAt(to), /holds an unfinished move: run/);
      }
      await origin.close();
      assert.deepEqual(
        moved.flatMap(({ differences }) => differences),
        [],
      );
      digests.push(moved.map(({ summary }) => summary));
      await (await openAt(to)).close(); // as a server
    }
    assert.deepEqual(digests[1], digests[0]);
  },
);

/** Starts the program as a process of its own. */
function launchMove(from: string, to: string) {
  const child = spawn(process.execPath, [CLI, "move", "--from", from, "--to", to], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const state = { child, error: "", ended: once(child, "close") };
  child.stderr.on("data", (text: Buffer) => (state.error += text.toString()));
  return state;
}

test("a move that is killed again and again ends with the same data", { skip }, async (t) => {
  const from = join(await newDirectory(t), "from");
  const engine = await openAt(from);
  const EVENTS = 16_000;
  for (let first = 0; first < EVENTS; first += 4_000) {
    const events = Array.from({ length: 4_000 }, (_, i) => ({
      ...{ id: `e${first + i}`, organization_id: "default", consumer: "ci" as const, ai: false },
      ...{ timestamp: START_TIME, ingested_at: START_TIME, status: "ok", command: `git ${i}` },
    }));
    await new Promise((stored) => engine.stores.audit.append("default", events, stored, new Set()));
  }
  const { bytes } = await engine.stores.audit.usage("default");
  await engine.close();
  const url = await createDatabase();
  const database = await openDatabase(`${url}?application_name=watch`, 2); // or it counts as a server
  t.after(() => database.close());
  const inDatabase = async (): Promise<number> => {
    const [row] = await database.query<{ n: number }>("SELECT max(bytes) AS n FROM audit_heads");
    return row?.n ?? 0;
  };
  const back = join(await newDirectory(t), "back");
  const audit = new Layout(back).organization("default").audit;
  const inDirectory = async (): Promise<number> => {
    const names = existsSync(audit) ? readdirSync(audit) : [];
    // A temporary file may be renamed between the two calls.
    const sizeOf = (name: string): number =>
      statSync(join(audit, name), { throwIfNoEntry: false })?.size ?? 0;
    return names.reduce((sum, name) => sum + sizeOf(name), 0);
  };
  for (const [source, target, stored, [wrong, said]] of [
    [from, url, inDatabase, [join(from, "nowhere"), /has no format\.json/]],
    [url, back, inDirectory, ["postgres://127.0.0.1:1/x", /nothing listens at this host/]],
  ] as const) {
    for (let round = 1; round <= 2; round++) {
      const moving = launchMove(source, target);
      const goal = (await stored()) + Math.random() * (bytes / 5) + 1;
      // A pause leaves the processors to the move, and lets its end arrive.
      while ((await stored()) < goal && moving.child.exitCode === null) await pause(10);
      moving.child.kill("SIGKILL");
      await moving.ended;
    }
    assert.ok((await stored()) > 0);
    const other = launchMove(wrong, target);
    await other.ended;
    assert.match(other.error, said);
    const last = launchMove(source, target);
    assert.deepEqual(await last.ended, [0, null], last.error);
  }
  assert.equal((await run(["verify", "--database", url])).code, 0);
  assert.equal((await run(["verify", back])).code, 0);
  const moved = await openAt(back);
  assert.equal((await moved.stores.audit.usage("default")).events, EVENTS);
  await moved.close();
});

test("a directory without events can be moved", { skip }, async (t) => {
  const from = join(await newDirectory(t), "from");
  const engine = await openAt(from);
  await engine.stores.settings.replace("default", [{ key: "theme", value: "dark" }]);
  await engine.close();
  const url = await createDatabase();
  const moved = await run(["move", "--from", from, "--to", url]);
  assert.equal(moved.code, 0, moved.error);
  assert.equal((await run(["verify", "--database", url])).code, 0);
});

for (const [what, edited, code, said] of [
  ["with another length", '"executor":5', 0, /^1 damaged lines of the source are not moved/m],
  [
    "with the same length in a sealed segment",
    '"executor":12345',
    1,
    /^signalbox move: "default": a stored event is not one of it, as one line of JSON: see/m,
  ],
] as const) {
  test(`an event with a number for a text, ${what}, ends in a sentence`, { skip }, async (t) => {
    const from = join(await newDirectory(t), "from");
    const app = await startAt(t, from);
    const post = (event: object) => app.post("/api/v1/audit", event);
    await post({ id: "e1", executor: "ada", message: "x".repeat(70 << 10) });
    await post({ id: "e2", executor: "bob" });
    await app.close();
    const path = join(from, "organizations/default/audit/000000000001.jsonl");
    await writeFile(path, (await readFile(path, "utf8")).replace('"executor":"ada"', edited));
    const moved = await run(["move", "--from", from, "--to", await createDatabase()]);
    assert.equal(moved.code, code, moved.error);
    assert.match(moved.error, said);
  });
}

/** Refused moves: the fault, the places, and the message. */
const REFUSED: readonly (readonly [string, () => Promise<readonly [string, string]>, RegExp])[] = [
  [
    "two directories",
    async () => [source?.app.dataDir ?? "", "/tmp/x"],
    /--to: expected a database, copy a directory by backup and restore; see/,
  ],
  [
    "a directory without data",
    async () => [await newDirectory({ after }), await createDatabase()],
    /is not a data directory: it has no format\.json$/,
  ],
  [
    "an empty source",
    async () => [await createDatabase("empty"), await newDirectory({ after })],
    /--from: has no data to move$/,
  ],
  [
    "a target that is used",
    async () => [source?.app.dataDir ?? "", await usedDatabase()],
    /--to: is not empty: give a new directory or an empty database$/,
  ],
  [
    "the target of a complete move from the same source",
    async () => {
      const [from, to] = [source?.app.dataDir ?? "", await createDatabase("empty")];
      assert.equal((await run(["move", "--from", from, "--to", to])).code, 0);
      return [from, to];
    },
    /--to: holds data of this source, as after a complete move, which "signalbox verify" checks: give a new directory/,
  ],
  [
    "a directory of something else",
    async () => {
      const directory = await newDirectory({ after });
      await writeFile(join(directory, "thesis.tex"), "");
      return [await usedDatabase(), directory];
    },
    /--to: "[^"]+" is not empty: give a new or empty directory$/,
  ],
  [
    "the unfinished move of another source",
    async () => {
      const url = await usedDatabase();
      const text = "INSERT INTO deployment (name, value) VALUES ('move', 'other')";
      await (await sharedCluster()).sql(text, new URL(url).pathname.slice(1));
      return [source?.app.dataDir ?? "", url];
    },
    /--to: holds an unfinished move from another source: give an empty target, or that source$/,
  ],
  [
    "a URL that is none",
    async () => [source?.app.dataDir ?? "", "mysql://root:hunter2@x/y"],
    /--to: the value given is not understood, expected a URL such as postgres:/,
  ],
  [
    "a wrong port",
    async () => ["postgres://u:hunter2@127.0.0.1:1/x", "/tmp/nowhere/data"],
    /--from: nothing listens at this host and port: .* \(ECONNREFUSED\)$/,
  ],
  [
    "a database of another program",
    async () => {
      const url = await createDatabase("empty");
      const text = "CREATE TABLE customers (id integer)";
      await (await sharedCluster()).sql(text, new URL(url).pathname.slice(1));
      return [source?.app.dataDir ?? "", url];
    },
    /--to: the database holds tables of another program/,
  ],
];

/** A database with one policy version. */
async function usedDatabase(): Promise<string> {
  const url = await createDatabase();
  const engine = await openAt(url);
  const draft = {
    version: "v1",
    isGenerated: false,
    activates: true,
    name: "n",
    description: undefined,
  };
  const author = { updated_by: "ada", updated_at: START_TIME };
  await engine.stores.policies.publish("default", { ...draft, ...author, yaml: "a: 1" });
  await engine.close();
  return url;
}

for (const [what, placesOf, said] of REFUSED) {
  test(`${what}: a move is refused in one line`, { skip }, async () => {
    const [from, to] = await placesOf();
    const { code, out, error } = await run(["move", "--from", from, "--to", to]);
    assert.ok(code > 0 && out === "");
    const [line = "", ...rest] = error.split("\n");
    assert.deepEqual(rest, [""]);
    assert.match(line, said);
    assert.ok(!error.includes("hunter2"));
  });
}

for (const [what, line] of [
  ["half an event", `left(line, 20)`],
  ["another organization's event", `replace(line, '"default"', '"acme"')`],
  ["two lines", `E'\n' || line`],
] as const) {
  test(`${what} in a stored row ends the move with a sentence`, { skip }, async (t) => {
    const url = await usedDatabase();
    const engine = await openAt(url);
    const events = [{ id: "e1", command: "ls" }, { id: "e2" }].map((event) => ({
      ...{ organization_id: "default", timestamp: START_TIME, ingested_at: START_TIME },
      ...{ consumer: "human" as const, ai: false, status: "ok", ...event },
    }));
    await new Promise<void>((resolve, reject) => {
      engine.stores.audit.append("default", events, (error) =>
        error === null ? resolve() : reject(error as Error),
      );
    });
    await engine.close();
    const name = new URL(url).pathname.slice(1);
    await (await sharedCluster()).sql(`UPDATE audit_events SET line = ${line} WHERE seq = 2`, name);
    const to = join(await newDirectory(t), "data");
    const { code, error } = await run(["move", "--from", url, "--to", to]);
    assert.equal(code, 1);
    const said = 'signalbox move: "default": a stored event is not one of it, as one line of JSON';
    assert.ok(error.includes(`${said}: see "signalbox verify"\n`), error);
  });
}

test("a damaged rollout ends the move by its name and the way out", { skip }, async (t) => {
  const url = await usedDatabase();
  const text = `INSERT INTO rollouts (organization_id, id, is_open, document)
    VALUES ('default', 'r1', true, '{"id": "r1", "state": "running"}')`;
  await (await sharedCluster()).sql(text, new URL(url).pathname.slice(1));
  const to = join(await newDirectory(t), "data");
  const { code, error } = await run(["move", "--from", url, "--to", to]);
  assert.equal(code, 1);
  const said =
    'signalbox move: Rollout "r1" of "default" in the table rollouts is damaged (version: required)';
  assert.ok(
    error.includes(`${said}: restore the database from a backup, or delete the row\n`),
    error,
  );
});

test("a move is refused while a server runs on either end", { skip }, async (t) => {
  const url = await createDatabase();
  const server = await startAt(t, url);
  const copy = join(await newDirectory(t), "data");
  await mkdir(copy);
  await cp(source?.app.dataDir ?? "", copy, { recursive: true });
  const into = await run(["move", "--from", copy, "--to", url]);
  assert.match(into.error, /--to: the database is in use by another process of Signalbox: stop/);
  const outOf = await run(["move", "--from", url, "--to", join(copy, "new")]);
  assert.match(outOf.error, /--from: the database is in use by another process of Signalbox: stop/);
  await server.close();
  const other = await startAt(t, copy);
  const busy = await run(["move", "--from", copy, "--to", url]);
  assert.match(
    busy.error,
    /--from: "[^"]+" is in use by process \d+ .*: stop that server first\n$/,
  );
  await other.close();
});
