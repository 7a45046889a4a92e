import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const SURFACES = ["/api/public", "/api/v1"] as const;
const VARY = "Origin, X-Runtime-Client, X-Runtime-Name, Authorization, X-API-Key";

for (const api of SURFACES) {
  test(`${api}: a published policy is the active one, and listed`, async (t) => {
    const app = await start(t);
    assert.equal((await app.get(`${api}/policies?active=true`)).status, 404);
    assert.deepEqual((await app.get(`${api}/policies`)).body, { active: "", policies: [] });
    const published = await app.post(`${api}/policies`, { yaml: "a: 1", version: "v1" });
    assert.equal(published.status, 201);
    assert.equal(published.body.active, true);
    assert.equal(published.body.updated_by, "portal-api");
    assert.deepEqual((await app.get(`${api}/policies?active=true`)).body, published.body);
    assert.deepEqual((await app.get(`${api}/policies/v1`)).body, published.body);
    const list = { active: "v1", policies: [published.body] };
    assert.deepEqual((await app.get(`${api}/policies`)).body, list);
  });
}

test("any value of a runtime's header selects the active version, other values of active do not", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/policies", { yaml: "a: 1", version: "v1" });
  for (const name of ["runtime/1.0", ""]) {
    const answer = await app.get("/api/v1/policies", { "X-Runtime-Client": name });
    assert.equal(answer.body.version, "v1");
  }
  assert.equal((await app.get("/api/v1/policies?active=false")).body.active, "v1");
});

test("a text with half of a surrogate pair is refused by a check as by a publish", async (t) => {
  const app = await start(t);
  const body = { yaml: "a: \ud800x", command: "ls", text: "\ud800x", ids: ["1"], effect: "deny" };
  const policies = ["", "/validate", "/simulate", "/replay", "/draft-rule"].map(
    (p) => `/policies${p}`,
  );
  for (const path of [...policies, "/audit/redact"]) {
    const answer = await app.post(`/api/v1${path}`, body);
    assert.equal(answer.status, 400, path);
    assert.match(answer.body.error, /unpaired surrogate/);
  }
});

test("every GET is conditional", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/policies", { yaml: "a: 1", version: "v1" });
  const paths = ["/policies", "/policies?texts=false", "/policies?active=true", "/policies/v1"];
  for (const path of paths) {
    const { headers, status } = await app.get(`/api/v1${path}`);
    assert.equal(status, 200);
    const etag = headers.get("etag") ?? "";
    const again = await app.get(`/api/v1${path}`, { "If-None-Match": `"x", W/${etag}` });
    assert.deepEqual([again.status, again.text], [304, ""]);
    for (const answer of [headers, again.headers]) {
      assert.equal(answer.get("etag"), etag);
      assert.equal(answer.get("cache-control"), "private, no-cache");
      assert.equal(answer.get("vary"), VARY);
    }
    await app.post("/api/v1/policies", { yaml: "a: 1" });
    const changed = await app.get(`/api/v1${path}`, { "If-None-Match": etag });
    assert.equal(changed.status, 200, path);
    await app.post("/api/v1/policies/v1/activate", {});
  }
});

test("a list without texts has all the other fields", async (t) => {
  const app = await start(t);
  const empty = await app.get("/api/v1/policies?texts=false");
  assert.deepEqual(empty.body, { active: "", policies: [] });
  await app.post("/api/v1/policies", { yaml: "a: 1", version: "v1", description: "first" });
  await app.post("/api/v1/policies", { yaml: "a: 2", version: "v2" });
  await app.post("/api/v1/policies/v1/activate", {});
  const whole = await app.get("/api/v1/policies?texts=true");
  const bare = await app.get("/api/v1/policies?texts=false");
  assert.deepEqual(
    whole.body.policies.map(({ yaml }: { readonly yaml: string }) => yaml),
    ["a: 2", "a: 1"],
  );
  const without = whole.body.policies.map(
    ({ yaml: _, ...rest }: { readonly yaml: string }) => rest,
  );
  assert.deepEqual(bare.body, { active: "v1", policies: without });
  assert.notEqual(bare.headers.get("etag"), whole.headers.get("etag"));
  const refused = await app.get("/api/v1/policies?texts=no");
  assert.equal(refused.status, 400);
});

test("a version of any name is found by its percent-encoded name", async (t) => {
  const app = await start(t);
  for (const version of ["a/b c", "ü?#%", "validate", "🚂".repeat(128)]) {
    await app.post("/api/v1/policies", { yaml: "a: 1", version });
    const { body } = await app.get(`/api/v1/policies/${encodeURIComponent(version)}`);
    assert.equal(body.version, version);
  }
});

test("an invalid document and an existing version are refused", async (t) => {
  const app = await start(t);
  const wrong = await app.post("/api/v1/policies", { yaml: "a: 1\na: 2" });
  assert.equal(wrong.status, 400);
  assert.deepEqual(wrong.body, { error: 'yaml, line 2, column 1: Duplicate key "a"' });
  await app.post("/api/v1/policies", { yaml: "a: 1", version: "v1" });
  const twice = await app.post("/api/v1/policies", { yaml: "a: 2", version: "v1" });
  assert.equal(twice.status, 409);
  assert.equal((await app.get("/api/v1/policies/v1")).body.yaml, "a: 1");
  for (const body of [{}, { yaml: "" }, { yaml: 5 }, { yaml: "a: 1", version: ".." }]) {
    assert.equal((await app.post("/api/v1/policies", body)).status, 400);
  }
});

test("a signed-in user can activate an earlier version again", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const headers = await app.asUser(ADMIN);
  const first = await app.post("/api/v1/policies", { yaml: "a: 1", version: "v1" }, headers);
  assert.equal(first.body.updated_by, ADMIN.email);
  await app.post("/api/v1/policies", { yaml: "a: 2", version: "v2" }, headers);
  app.advance(1_000);
  const { status, body } = await app.post("/api/v1/policies/v1/activate", {}, headers);
  assert.equal(status, 200);
  assert.deepEqual(body, {
    ...first.body,
    activated_at: "2026-11-20T20:30:01.000Z",
    activated_by: ADMIN.email,
  });
  assert.equal((await app.post("/api/v1/policies/v9/activate", {}, headers)).status, 404);
});

test("a document is checked without being stored", async (t) => {
  const app = await start(t);
  const valid = await app.post("/api/public/policies/validate", { yaml: "a: 1" });
  assert.deepEqual(valid.body, { valid: true, problems: [] });
  const { status, body } = await app.post("/api/public/policies/validate", { yaml: "a: *b" });
  assert.equal(status, 200);
  const message = 'The alias "*b" has no anchor before it';
  assert.deepEqual(body, { valid: false, problems: [{ message, line: 1, column: 4 }] });
  assert.deepEqual((await app.get("/api/public/policies")).body.policies, []);
});

test("a command is decided by the active policy", async (t) => {
  const app = await start(t);
  const yaml = `schema: signalbox/policy/v1
rules: [{id: reads, effect: allow, reason: Harmless, match: {commands: [{glob: git *}]}}]`;
  await app.post("/api/v1/policies", { yaml, version: "v1" });
  const answer = await app.post("/api/v1/policies/simulate", { command: "git status" });
  const expected = {
    decision: "ALLOWED",
    mode: "enforce",
    rule: "reads",
    reason: "Harmless",
    line: 2,
    version: "v1",
  };
  assert.deepEqual(answer.body, expected);
  const observing = { command: "rm x", yaml: `${yaml}\nmode: observe` };
  const { body: observed } = await app.post("/api/v1/policies/simulate", observing);
  assert.deepEqual([observed.decision, observed.mode], ["DENIED", "observe"]);
  const other = await app.post("/api/v1/policies/simulate", { command: "x", yaml: "a: 1" });
  assert.equal(other.status, 400);
});
