import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer } from "../support/client.ts";
import { SECRETS } from "../audit/redaction/corpus.ts";
import { ADMIN, ADMIN_SETTINGS, type App, start } from "../support/start.ts";

const AUDIT = "/api/public/audit";
const SETTINGS = "/api/v1/settings";
const MYSQL = "mysql -u root -phunter2 db";
const REDACTED = "mysql -u root -p[redacted:mysql-password] db";

const commandOf = async (app: App, command: string): Promise<unknown> =>
  (await app.post(AUDIT, { command })).body.command;

test("no secret of the corpus survives in answers, lists, exports, streams or the log", async (t) => {
  const logged: string[] = [];
  const writeLog = (line: string): void => void logged.push(line);
  const app = await start(t, { logLevel: "debug", writeLog });
  const stream = await app.stream(`${AUDIT}/stream`);
  await stream.block();
  const fields = ["command", "message", "reason", "resource"];
  const events = SECRETS.map(([text], i) => ({ command: "x", [fields[i % 4] ?? ""]: text }));
  const seen: Answer[] = [];
  seen.push(await app.post(AUDIT, { events }));
  for (const [text] of SECRETS) seen.push(await app.post(AUDIT, { id: undefined, command: text }));
  seen.push(await app.get(`${AUDIT}?limit=1000`));
  for (const format of ["ndjson", "csv"])
    seen.push(await app.get(`${AUDIT}/export?format=${format}`));
  const streamed = JSON.stringify(await stream.commands(2 * SECRETS.length));
  const texts = [...seen.map(({ text }) => text), streamed, logged.join("")];
  for (const secret of SECRETS.flatMap(([, ...secrets]) => secrets)) {
    const inJson = JSON.stringify(secret).slice(1, -1);
    for (const text of texts) assert.ok(!text.includes(inJson), inJson);
  }
  assert.equal((await app.get(`${AUDIT}?q=hunter2`)).body.total, 0, "none can be searched");
});

test("the default provider comes from the redacted command", async (t) => {
  const app = await start(t);
  const { body } = await app.post(AUDIT, { command: "API_KEY=abc make" });
  assert.equal(body.provider, "API_KEY=[redacted:named-value]");
});

test("long texts and large batches are redacted too", async (t) => {
  const app = await start(t);
  const long = `${"echo a; ".repeat(20_000)}${MYSQL}`;
  const wanted = long.replace("hunter2", "[redacted:mysql-password]");
  assert.equal(await commandOf(app, long), wanted);
  const events = Array.from({ length: 2_000 }, () => ({ command: MYSQL }));
  const { body } = await app.post(AUDIT, { events: [...events, { command: long }] });
  const found = (body.events as { command: string }[]).map(({ command }) => command);
  assert.deepEqual(new Set(found), new Set([REDACTED, wanted]));
});

test("a text with more than 1,000 secrets does not grow without bound", async (t) => {
  const app = await start(t);
  const command = (await commandOf(app, "KEY=a ".repeat(100_000))) as string;
  assert.ok(command.startsWith("KEY=[redacted:named-value] KEY=["));
  assert.ok(command.endsWith("KEY=* KEY=* "));
  assert.equal(await commandOf(app, command), command);
});

test("AUDIT_REDACTION=off keeps texts as they are, and can still be tried", async (t) => {
  const app = await start(t, { auditRedaction: "off" });
  assert.equal(await commandOf(app, MYSQL), MYSQL);
  assert.equal((await app.post(`${AUDIT}/redact`, { text: MYSQL })).body.text, REDACTED);
});

for (const surface of ["public", "v1"]) {
  test(`a text can be redacted by way of trial under /api/${surface}`, async (t) => {
    const app = await start(t);
    const { status, body } = await app.post(`/api/${surface}/audit/redact`, {
      text: `${MYSQL}; A_TOKEN=a B_TOKEN=b make`,
    });
    assert.equal(status, 200);
    assert.deepEqual(body, {
      text: `${REDACTED}; A_TOKEN=[redacted:named-value] B_TOKEN=[redacted:named-value] make`,
      redactions: [
        { rule: "mysql-password", count: 1 },
        { rule: "named-value", count: 2 },
      ],
    });
    assert.equal((await app.get(AUDIT)).body.total, 0);
    assert.equal((await app.post(`/api/${surface}/audit/redact`, {})).status, 400);
  });
}

test("an organization adds texts and names by its settings, from the next event on", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const admin = await app.asUser(ADMIN);
  const { admin: other } = await app.createOrganization("Acme", admin);
  const text = "deploy Falcon-9 --with ACME_BADGE=1234 --badge-pin 5678";
  assert.equal(await commandOf(app, text), text);
  const settings = [
    { key: "audit.redact.literals", value: "Falcon-9, literal" },
    { key: "audit.redact.names", value: "_badge,-pin" },
  ];
  assert.equal((await app.put(SETTINGS, { settings }, admin)).status, 200);
  const redacted =
    "deploy [redacted:literal] --with ACME_BADGE=[redacted:name] --badge-pin [redacted:name]";
  assert.equal(await commandOf(app, text), redacted);
  assert.equal(await commandOf(app, redacted), redacted);
  const { body } = await app.post("/api/v1/audit", { command: text }, other);
  assert.equal(body.command, text, "another organization has its own");
  await app.put(SETTINGS, { settings: [] }, admin);
  assert.equal(await commandOf(app, text), text);
});

for (const [key, value] of [
  ["audit.redact.literals", "abc"],
  ["audit.redact.literals", "x".repeat(257)],
  ["audit.redact.names", "a b"],
  ["audit.redact.names", "xy"],
  ["audit.redact.names", "pin."],
  ["audit.redact.names", "name,".repeat(101)],
] as const) {
  test(`a setting that is no rule is refused: ${key} ${value.slice(0, 20)}`, async (t) => {
    const app = await start(t, ADMIN_SETTINGS);
    const admin = await app.asUser(ADMIN);
    const answer = await app.put(SETTINGS, { settings: [{ key, value }] }, admin);
    assert.equal(answer.status, 400);
    assert.ok(answer.body.error.startsWith(`${key}: expected`), answer.text);
  });
}

test("metrics count the replaced secrets by rule", async (t) => {
  const app = await start(t, { metrics: "open" });
  await app.post(AUDIT, { events: [{ command: MYSQL }, { command: "A_KEY=a B_KEY=b x" }] });
  await app.post(`${AUDIT}/redact`, { text: MYSQL });
  const { text } = await app.get("/metrics");
  assert.match(text, /^signalbox_audit_redactions_total\{rule="mysql-password"\} 1$/m);
  assert.match(text, /^signalbox_audit_redactions_total\{rule="named-value"\} 2$/m);
});

test("an event that is sent again is stored once, whatever redaction makes of it", async (t) => {
  const app = await start(t);
  const first = await app.post(AUDIT, { id: "e", command: MYSQL });
  const again = await app.post(AUDIT, { id: "e", command: MYSQL });
  assert.deepEqual(again.body, first.body);
  assert.equal((await app.get(AUDIT)).body.total, 1);
});
