/** An open demo as its visitors and its operator see it. Tests on one server run in order. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ingestEvent } from "../../src/audit/ingest.ts";
import { readShippedCatalog } from "../../src/catalog/source.ts";
import { DAY_MS, MINUTE_MS } from "../../src/core/clock.ts";
import { NO_RULE } from "../../src/demo/runtime.ts";
import { evaluate } from "../../src/policies/evaluate.ts";
import type { PolicyDocument } from "../../src/policies/rules.ts";
import { examine } from "../../src/policies/examine.ts";
import { StepBudget } from "../../src/policies/step-budget.ts";
import type { Answer } from "../support/client.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const PUBLIC = "/api/public";
type Row = Answer["body"];

// Behind a proxy, so that a test has as many addresses as it needs.
const app = await start({ after }, { demo: true, trustProxy: 1, publicSurface: "off" });
const closed = {
  page: (await app.get("/", { accept: "text/html" })).text,
  signIn: (await app.get("/portal/sign-in")).text,
  notice: (await app.get("/metadata")).body.demo.notice,
};
await app.restart({ publicSurface: "open", ...ADMIN_SETTINGS }); // to fill a demo takes seconds
let visitors = 0;
const visitor = () => ({ "x-forwarded-for": `10.0.${visitors >> 8}.${visitors++ & 255}` });
const publish = (version: string) =>
  app.post(`${PUBLIC}/policies`, { version, yaml: "a: 1" }, visitor());

const seeded = (await app.get(`${PUBLIC}/audit/export?format=ndjson`)).text.trimEnd().split("\n");
const events = seeded.map((line) => JSON.parse(line) as Row);

test("every seeded event is valid, with a command of the catalog", async () => {
  const { capabilities } = await readShippedCatalog();
  const providers = new Map(capabilities.map(({ id, provider }) => [id, provider]));
  assert.ok(events.length > 20_000 && events.length < 100_000, String(events.length));
  for (const [i, event] of events.entries()) {
    const { organization_id: organization, ingested_at: ingested } = event;
    const now = Date.parse(ingested);
    const ids = (): string => assert.fail("An event without an id");
    const expected = JSON.stringify(ingestEvent(event, "", { organization, now, ids }));
    assert.equal(seeded[i], expected);
    assert.equal(providers.get(event.capability), event.provider);
    assert.ok(event.timestamp <= ingested && now <= app.now);
  }
});

test("every decision follows from the policy version that the event names, with its reason", async () => {
  const { body } = await app.get(`${PUBLIC}/policies`);
  const documents = new Map<string, PolicyDocument>();
  for (const { version, yaml } of body.policies) {
    documents.set(version, examine({ yaml, command: undefined }).document as PolicyDocument);
  }
  assert.equal(documents.size, 7);
  const reasons = new Set<string>();
  for (const event of events) {
    const verdict = evaluate(
      documents.get(event.policy) as PolicyDocument,
      event,
      new StepBudget(Infinity),
    );
    const isDenied = verdict.decision === "DENIED";
    assert.equal(event.policy_decision, verdict.decision, event.command);
    assert.equal(event.reason, isDenied ? (verdict.reason ?? NO_RULE) : undefined);
    if (isDenied) reasons.add(event.reason);
  }
  assert.ok(reasons.size >= 8);
});

test("a first visit shows two weeks of work, an active fleet and the authors of the policy", async () => {
  const { body: today } = await app.get(`${PUBLIC}/dashboard`);
  assert.ok(today.commands_today > 1_000 && today.denied_today > 20 && today.ai_operations > 200);
  assert.ok(today.denied_today / today.commands_today < 0.15);
  assert.equal(today.policy_version, "v7");
  assert.equal(today.recent_audit.length, 10);

  const from = new Date(app.now - 14 * DAY_MS).toISOString().slice(0, 10);
  const { body: days } = await app.get(
    `${PUBLIC}/audit/histogram?interval=1d&from=${from}T00:00:00Z`,
  );
  const busy = days.buckets.filter(({ allowed }: Row) => allowed > 300);
  assert.ok(busy.length >= 11, JSON.stringify(days.buckets));

  const { body: fleet } = await app.get(`${PUBLIC}/fleet`);
  const count = (status: string) =>
    fleet.runtimes.filter((one: Row) => one.status === status).length;
  assert.ok(count("online") >= 12 && count("idle") >= 3 && count("offline") >= 2);
  const stale = fleet.runtimes.filter(
    (one: Row) => one.status === "online" && one.policy_version !== "v7",
  );
  assert.deepEqual(stale.map(({ name }: Row) => name).sort(), [
    "agent-costs-1",
    "laptop-carlos",
    "runner-us-3",
  ]);

  const { body: policies } = await app.get(`${PUBLIC}/policies`);
  for (const policy of policies.policies) assert.ok(policy.description && policy.updated_by);
  const changes = await app.get("/api/v1/activity?action=policy.activate", await app.asUser(ADMIN));
  assert.deepEqual(changes.body.entries[0].before, { active: "v5" });
});

test("only management requires a sign-in, and the documents state the next reset", async () => {
  assert.equal((await app.get("/api/v1/api-keys")).status, 401);
  assert.equal((await app.get("/metadata/authentication")).body.require_auth, true);
  const { demo } = (await app.get("/metadata")).body;
  assert.equal(demo.next_reset_at, "2026-11-21T04:00:00.000Z");
  assert.match(demo.notice, /anyone can/i);
});

test("pages show the demo's data without a sign-in, and say that anyone can write", async () => {
  const { text } = await app.get("/", { accept: "text/html" });
  assert.match(text, /anyone can write here/);
  assert.match(text, /<time datetime="2026-11-21T04:00:00.000Z">04:00 UTC<\/time>/);
  assert.match(text, /data-prefix="\/api\/public"/);
  assert.match(text, /data-open="true"/);
  assert.match(text, /ada\.moreau@example\.com/); // the user who published the active policy
});

test("the sign-in page says that all other pages are open", async () => {
  const { text } = await app.get("/portal/sign-in");
  assert.match(text, /Everything else is open/);
  assert.doesNotMatch(text, /ADMIN_EMAIL/);
});

test("without the open surface, no page says that the demo is open", () => {
  assert.match(closed.page, /class="demo-note">\s*Demo\.\s/);
  assert.match(closed.page, /data-open="false"/);
  assert.doesNotMatch(closed.signIn, /Everything else is open/);
  assert.match(closed.signIn, /ADMIN_EMAIL/);
  assert.equal(closed.notice, "A demo: all of its data is reset at times");
});

test("a body of 64 KiB is accepted, a larger one is refused", async () => {
  const bodyOf = (size: number) => `{"command":"${"x".repeat(size - 14)}"}`;
  const send = (size: number) => app.post(`${PUBLIC}/audit`, bodyOf(size), visitor());
  assert.equal((await send(64 * 1024)).status, 202);
  assert.equal((await send(64 * 1024 + 1)).status, 413);
});

test("an address has 120 writes a minute, while it may read, validate and simulate", async () => {
  const address = visitor();
  const write = () => app.post(`${PUBLIC}/fleet/heartbeat`, { name: "visitor" }, address);
  for (let i = 0; i < 120; i++) assert.equal((await write()).status, 200);
  const refused = await write();
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "60");
  assert.equal((await app.get(`${PUBLIC}/fleet`, address)).status, 200);
  const question = { command: "git push origin main" };
  assert.equal((await app.post(`${PUBLIC}/policies/simulate`, question, address)).status, 200);
  assert.equal(
    (await app.post(`${PUBLIC}/policies/validate`, { yaml: "a: 1" }, address)).status,
    200,
  );
  const secret = { text: "curl -u ada:hunter2 x" };
  assert.equal((await app.post(`${PUBLIC}/audit/redact`, secret, address)).status, 429);
  assert.equal((await app.post(`${PUBLIC}/audit`, { command: "ls" }, visitor())).status, 202);
  app.advance(MINUTE_MS);
  assert.equal((await write()).status, 200);
});

test("the hundredth policy version is accepted, the next is refused until the reset", async () => {
  for (let i = 8; i <= 100; i++) assert.equal((await publish(`visitor-${i}`)).status, 201);
  const refused = await publish("visitor-101");
  assert.equal(refused.status, 429);
  assert.match(refused.body.error, /at most 100 policy versions/);
  const active = await app.post(`${PUBLIC}/policies/v6/activate`, {}, visitor());
  assert.equal(active.status, 200);
});

test("the thousandth runtime is accepted, the next is refused on both surfaces, known ones are not", async () => {
  const beat = (name: string) => app.post(`${PUBLIC}/fleet/heartbeat`, { name }, visitor());
  const { body } = await app.get(`${PUBLIC}/fleet`);
  const missing = 1_000 - body.runtimes.length;
  const answers = await Promise.all(Array.from({ length: missing }, (_, i) => beat(`extra-${i}`)));
  for (const { status } of answers) assert.equal(status, 200);
  const refused = await beat("one-more");
  assert.equal(refused.status, 429);
  assert.match(refused.body.error, /at most 1000 runtimes/);
  const headers = await app.asUser(ADMIN);
  assert.equal((await app.post("/api/v1/runtime/register", { name: "x" }, headers)).status, 429);
  assert.equal((await beat("extra-0")).status, 200);
});

test("a restart on the same day changes nothing", async () => {
  await app.restart(); // a stop ends the reports of the machines, which are due since the clock was moved
  const before = (await app.get(`${PUBLIC}/audit?limit=1`)).body.total;
  await app.restart();
  assert.equal((await app.get(`${PUBLIC}/audit?limit=1`)).body.total, before);
  assert.equal((await app.get(`${PUBLIC}/policies?active=true`)).body.version, "v6");
  assert.equal((await app.get("/metadata")).body.demo.next_reset_at, "2026-11-21T04:00:00.000Z");
});

test("at four the demo is reset: requests wait, streams end, the operator exists again", async () => {
  const token = await app.asUser(ADMIN);
  const created = await app.createUser({ email: "guest@example.com" }, token);
  assert.ok(created.id);
  const stream = await app.stream(`${PUBLIC}/audit/stream`);
  app.advance(Date.parse("2026-11-21T04:00:00Z") - app.now);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => app.get(`${PUBLIC}/policies?active=true`)),
  );
  for (const { status, body } of answers) assert.deepEqual([status, body.version], [200, "v7"]);
  while (await stream.block());

  assert.equal((await app.get(`${PUBLIC}/policies`)).body.policies.length, 7);
  const names = (await app.get(`${PUBLIC}/fleet`)).body.runtimes.map(({ name }: Row) => name);
  assert.ok(names.length < 40 && !names.includes("visitor"));
  assert.equal((await app.get("/metadata")).body.demo.next_reset_at, "2026-11-22T04:00:00.000Z");
  assert.equal((await app.get("/api/v1/users", token)).status, 401);
  const users = await app.get("/api/v1/users", await app.asUser(ADMIN));
  assert.deepEqual(
    users.body.users.map(({ email }: Row) => email),
    [ADMIN.email],
  );
  assert.equal((await app.post(`${PUBLIC}/audit`, { command: "ls" }, visitor())).status, 202);
});

test("a demo that was off at four is reset when it starts again", async () => {
  assert.equal((await publish("visitor-1")).status, 201);
  await app.close();
  app.advance(3 * DAY_MS);
  await app.open();
  assert.equal((await app.get(`${PUBLIC}/policies?active=true`)).body.version, "v7");
  const { body } = await app.get(`${PUBLIC}/dashboard`);
  assert.ok(body.commands_today > 500);
});

test("a demo's directory that was used without DEMO meanwhile is never wiped", async () => {
  await app.restart({ demo: false });
  assert.equal((await app.get("/metadata")).body.demo, undefined);
  assert.equal((await app.post("/api/v1/policies", { version: "real", yaml: "a: 1" })).status, 201);
  await app.restart({ demo: true });
  app.advance(3 * DAY_MS);
  assert.equal((await app.get(`${PUBLIC}/policies?active=true`)).body.version, "real");
  await app.restart();
  assert.equal((await app.get(`${PUBLIC}/policies?active=true`)).body.version, "real");
  assert.equal((await app.get("/metadata")).body.demo.next_reset_at, undefined);
});

test("a directory with real data is neither seeded nor reset, though requests are limited", async (t) => {
  const own = await start(t, { trustProxy: 1 });
  await own.post(`${PUBLIC}/audit`, { command: "ls" });
  const lines: string[] = [];
  await own.restart({ demo: true, logLevel: "warn", writeLog: (line) => lines.push(line) });
  assert.match(lines.join(""), /holds other data/);
  own.advance(2 * DAY_MS);
  const { body } = await own.get(`${PUBLIC}/audit`);
  assert.equal(body.total, 1);
  assert.deepEqual((await own.get(`${PUBLIC}/fleet`)).body.runtimes, []);
  const write = () => own.post(`${PUBLIC}/fleet/heartbeat`, { name: "r" });
  for (let i = 0; i < 120; i++) await write();
  assert.equal((await write()).status, 429);
});
