import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startSignalbox } from "../../src/index.ts";

// The damage that a crash, a disk or an editor may have done to a data directory while the service
// was away.

const folder = await mkdtemp(join(tmpdir(), "signalbox-damage-"));
after(() => rm(folder, { recursive: true, force: true }));
const LOGS = ["audit/000000000001.jsonl", "fleet.jsonl", "activity.jsonl"] as const;
const pathOf = (dataDir: string, log: string) => join(dataDir, "organizations/default", log);

interface Line {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** A directory in which each of the three logs holds three records: a, b and c. */
const whole = join(folder, "whole");
await served(whole, async (url) => {
  for (const name of ["a", "b", "c"]) {
    await post(`${url}/api/public/audit`, { id: name, command: `echo ${name}` });
    await post(`${url}/api/public/fleet/heartbeat`, { name });
    await post(`${url}/api/v1/api-keys`, { name });
  }
});

async function post(url: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  assert.ok(answer.ok, await answer.text());
}

async function served(dataDir: string, use: (url: string) => Promise<void>): Promise<Line[]> {
  const lines: Line[] = [];
  const writeLog = (line: string) => void lines.push(JSON.parse(line) as Line);
  const service = await startSignalbox({ dataDir, logLevel: "info", writeLog });
  try {
    await use(service.url);
  } finally {
    await service.close();
  }
  return lines;
}

/** The records of each log that are served, and the condition that the service reports. */
async function readAll(url: string): Promise<readonly [string, ...string[]]> {
  const get = async (path: string) => (await fetch(url + path)).json() as Promise<never>;
  const { status } = (await get("/health")) as { status: string };
  const { events } = (await get("/api/public/audit")) as { events: { id: string }[] };
  const { runtimes } = (await get("/api/public/fleet")) as { runtimes: { name: string }[] };
  const { entries } = (await get("/api/v1/activity")) as {
    entries: { target: { name: string } }[];
  };
  const names = [
    events.map(({ id }) => id),
    runtimes.map(({ name }) => name),
    entries.map(({ target }) => target.name),
  ];
  return [status, ...names.map((list) => list.sort().join(""))];
}

async function copyWith(change: (lines: readonly string[]) => Buffer): Promise<string> {
  const dataDir = await mkdtemp(join(folder, "case-"));
  await cp(whole, dataDir, { recursive: true });
  for (const log of LOGS) {
    const text = await readFile(pathOf(whole, log), "utf8");
    await writeFile(pathOf(dataDir, log), change(text.trimEnd().split("\n")));
  }
  return dataDir;
}

const MARK = Buffer.from("\ufeff");
const ZEROS = Buffer.alloc(4096);
const bytes = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

type Damage = readonly [what: string, served: string, (lines: readonly string[]) => Buffer];

const IN_THE_MIDDLE: readonly Damage[] = [
  ["half a line", "ac", ([a, b, c]) => bytes(`${a}\n${b?.slice(0, 40)}\n${c}\n`)],
  [
    "a line that is no text",
    "ac",
    ([a, , c]) => bytes(`${a}\n`, Buffer.from([0xff, 0xfe]), `\n${c}\n`),
  ],
  [
    "a block of zeros on a line of its own",
    "abc",
    ([a, b, c]) => bytes(`${a}\n`, ZEROS, `\n${b}\n${c}\n`),
  ],
  [
    "a block of zeros right before a line",
    "abc",
    ([a, b, c]) => bytes(`${a}\n`, ZEROS, `${b}\n${c}\n`),
  ],
  [
    "a block of zeros in place of a newline",
    "abc",
    ([a, b, c]) => bytes(`${a}`, ZEROS, `${b}\n${c}\n`),
  ],
  [
    "a block of zeros within a line",
    "ac",
    ([a, b, c]) => bytes(`${a}\n${b?.slice(0, 40)}`, ZEROS, `${b?.slice(60)}\n${c}\n`),
  ],
  [
    "a block of zeros larger than what is read at once",
    "abc",
    ([a, b, c]) => bytes(`${a}\n`, Buffer.alloc(3 << 20), `${b}\n${c}\n`),
  ],
  [
    "another organization's line",
    "ac",
    ([a, b, c]) => bytes(`${a}\n${b?.replace('_id":"default"', '_id":"other"')}\n${c}\n`),
  ],
];

const HARMLESS: readonly Damage[] = [
  ["carriage returns", "abc", ([a, b, c]) => bytes(`${a}\r\n${b}\r\n${c}\r\n`)],
  ["a byte order mark at the beginning", "abc", ([a, b, c]) => bytes(MARK, `${a}\n${b}\n${c}\n`)],
  ["a byte order mark in the middle", "abc", ([a, b, c]) => bytes(`${a}\n`, MARK, `${b}\n${c}\n`)],
  ["empty lines", "abc", ([a, b, c]) => bytes(`\n${a}\n\n \r\n${b}\n\n\n${c}\n\n\r\n`)],
];

const AT_THE_END: readonly Damage[] = [
  ["half a line", "abc", ([a, b, c]) => bytes(`${a}\n${b}\n${c}\n{"id":"d"`)],
  ["a line without its newline", "ab", ([a, b, c]) => bytes(`${a}\n${b}\n${c}`)],
  ["a carriage return without its newline", "ab", ([a, b, c]) => bytes(`${a}\r\n${b}\r\n${c}\r`)],
  ["a block of zeros", "abc", ([a, b, c]) => bytes(`${a}\n${b}\n${c}\n`, ZEROS)],
  [
    "zeros from within a line on",
    "ab",
    ([a, b, c]) => bytes(`${a}\n${b}\n${c?.slice(0, 30)}`, ZEROS),
  ],
  ["a byte order mark", "abc", ([a, b, c]) => bytes(`${a}\n${b}\n${c}\n`, MARK)],
];

for (const [what, readable, change] of IN_THE_MIDDLE) {
  test(`${what} in the middle of a log is set aside once and reported, and the rest is served`, async () => {
    const dataDir = await copyWith(change);
    const expected = ["degraded", readable, readable, readable];
    const told = await served(dataDir, async (url) =>
      assert.deepEqual(await readAll(url), expected),
    );
    const aside = await asideOf(dataDir);
    for (const log of LOGS) {
      const file = pathOf(dataDir, log);
      const lines = told.filter((line) => line["file"] === file);
      assert.deepEqual(
        lines.map(({ level, message }) => [level, message]),
        [["error", "set aside damaged lines of a log"]],
      );
      assert.ok(Number(lines[0]?.["bytes"]) > 0 && Number(lines[0]?.["offset"]) > 0);
      assert.ok(!JSON.stringify(lines).includes("echo"), "a log line quotes what was damaged");
      const text = await readFile(pathOf(whole, log), "utf8");
      assert.deepEqual(await readFile(file), change(text.trimEnd().split("\n")), "it was altered");
    }
    const again = await served(dataDir, async (url) =>
      assert.deepEqual(await readAll(url), expected),
    );
    assert.deepEqual(
      again.filter(({ level }) => level === "error"),
      [],
    );
    assert.deepEqual(await asideOf(dataDir), aside);
  });
}

/** The files beside the logs, and their times of writing. */
async function asideOf(dataDir: string): Promise<readonly (readonly [string, number])[]> {
  return Promise.all(
    LOGS.map(async (log) => {
      const path = `${pathOf(dataDir, log)}.damaged`;
      const { mtimeMs, mode } = await stat(path);
      assert.equal(mode & 0o777, 0o600);
      const [sum, ...entries] = (await readFile(path, "utf8")).trimEnd().split("\n");
      assert.equal((JSON.parse(sum ?? "") as { lines: number }).lines, entries.length);
      return [path, mtimeMs] as const;
    }),
  );
}

for (const [what, readable, change] of HARMLESS) {
  test(`${what} in a log are read past`, async () => {
    const dataDir = await copyWith(change);
    const told = await served(dataDir, async (url) =>
      assert.deepEqual(await readAll(url), ["ok", readable, readable, readable]),
    );
    assert.deepEqual(
      told.filter(({ file }) => file !== undefined),
      [],
    );
  });
}

for (const [what, readable, change] of AT_THE_END) {
  test(`${what} at the end of a log is cut off at start, and reported`, async () => {
    const dataDir = await copyWith(change);
    const told = await served(dataDir, async (url) => {
      for (const log of LOGS) {
        const text = await readFile(pathOf(dataDir, log), "latin1");
        assert.ok(text.endsWith("}\n") || text.endsWith("}\r\n"), log); // before the first request for it
      }
      assert.deepEqual(await readAll(url), ["ok", readable, readable, readable]);
    });
    for (const log of LOGS) {
      const text = await readFile(pathOf(whole, log), "utf8");
      const before = change(text.trimEnd().split("\n")).length;
      const { size: offset } = await stat(pathOf(dataDir, log));
      const [line, ...others] = told.filter(({ file }) => file === pathOf(dataDir, log));
      assert.match(line?.message ?? "", /^cut off half an?/);
      assert.deepEqual([line?.["offset"], line?.["bytes"]], [offset, before - offset]);
      assert.deepEqual(others, []);
    }
  });
}

test("a log that was repaired is healthy again", async () => {
  const dataDir = await copyWith(([a, , c]) => bytes(`${a}\nx\n${c}\n`));
  await served(dataDir, async (url) => assert.equal((await readAll(url))[0], "degraded"));
  for (const log of LOGS) await cp(pathOf(whole, log), pathOf(dataDir, log));
  await served(dataDir, async (url) =>
    assert.deepEqual(await readAll(url), ["ok", "abc", "abc", "abc"]),
  );
  const names = await readdir(dataDir, { recursive: true });
  assert.deepEqual(
    names.filter((name) => name.endsWith(".damaged")),
    [],
  );
});

const POLICY = { version: "v1", yaml: "a: 1\n" };
const SNAPSHOTS = [
  "format.json",
  "secret",
  "organizations/default/organization.json",
  "organizations/default/users.json",
  "organizations/default/api-keys.json",
  "organizations/default/settings.json",
  "organizations/default/providers.json",
  "organizations/default/policies/index.json",
  "organizations/default/fleet.json",
];

test("every damaged snapshot stops the start, with its name and the way out", async (t) => {
  const dataDir = join(folder, "snapshots");
  await cp(whole, dataDir, { recursive: true });
  await served(dataDir, async (url) => {
    await post(`${url}/api/v1/policies`, POLICY);
    const user = { name: "Ada", role: "admin", password: "correct horse battery" };
    await post(`${url}/api/v1/users`, { ...user, email: "ada@example.com" });
    const put = { method: "PUT", headers: { "content-type": "application/json" } };
    await fetch(`${url}/api/v1/settings`, {
      ...put,
      body: '{"settings":[{"key":"a","value":"b"}]}',
    });
    await fetch(`${url}/api/v1/providers/git`, { ...put, body: '{"status":"degraded"}' });
  });
  const fleet = '{"organization_id":"default","log":1,"runtimes":[]}\n';
  await writeFile(join(dataDir, "organizations/default/fleet.json"), fleet, { mode: 0o600 });
  for (const name of SNAPSHOTS) {
    for (const [what, content] of [
      ["zeros", Buffer.alloc(64)],
      ["nothing", Buffer.alloc(0)],
      ["no UTF-8", Buffer.from([0x22, 0xff, 0x22])],
    ] as const) {
      await t.test(`${name} holds ${what}`, async () => {
        const path = join(dataDir, name);
        const before = await readFile(path);
        await writeFile(path, content);
        await assert.rejects(startSignalbox({ dataDir }), (error: Error) => {
          assert.ok(error.message.startsWith(`${path} is damaged`), error.message);
          assert.match(error.message, /restore it from a backup|run the version that wrote it/);
          return true;
        });
        assert.deepEqual(await readFile(path), content);
        await writeFile(path, before);
      });
    }
  }
  await t.test(
    "repaired, even with a byte order mark and carriage returns, it starts",
    async () => {
      for (const name of SNAPSHOTS) {
        const path = join(dataDir, name);
        const text = (await readFile(path, "utf8")).replaceAll("\n", "\r\n");
        await writeFile(path, `\ufeff${text}`);
      }
      await served(dataDir, async (url) => assert.equal((await readAll(url))[0], "ok"));
    },
  );
});

test("unfinished files are removed at start, and no others", async () => {
  const dataDir = await copyWith((lines) => bytes(`${lines.join("\n")}\n`));
  const organization = join(dataDir, "organizations/default");
  const strays = [
    join(dataDir, "secret.1-1.tmp"),
    join(dataDir, "format.json.1-2.tmp"),
    join(organization, "users.json.7-7.tmp"),
    join(organization, "fleet.json.tmp"),
    join(organization, "audit/000000000001.idx.7-8.tmp"),
  ];
  const notes = join(organization, "notes.txt");
  for (const path of [...strays, notes]) await writeFile(path, "x");
  await served(dataDir, async () => {});
  const left = (await readdir(dataDir, { recursive: true })).filter((name) =>
    /\.tmp$|notes/.test(name),
  );
  assert.deepEqual(left.sort(), ["organizations/default/notes.txt"]);
});

test("an event with a number for a text is reported as damage, and the audit page shows the others", async () => {
  const dataDir = await mkdtemp(join(folder, "case-"));
  await cp(whole, dataDir, { recursive: true });
  const path = pathOf(dataDir, "audit/000000000001.jsonl");
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace('"command":"echo b"', '"command":5'));
  await served(dataDir, async (url) => {
    assert.deepEqual((await readAll(url)).slice(0, 2), ["degraded", "ac"]);
    const page = await fetch(`${url}/portal/audit`);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /echo a/);
  });
  assert.ok((await readFile(`${path}.damaged`, "utf8")).includes('\\"command\\":5'));
});
