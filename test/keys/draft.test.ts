import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiKey } from "../../src/auth/api-key.ts";
import { apiKeyCreateBody, apiKeyOf, draftKey } from "../../src/keys/draft.ts";

const NOW = Date.UTC(2026, 10, 20, 12);

test("a new key has the scope runtime by default, and was never used", () => {
  const fresh = createApiKey();
  const key = draftKey("acme", { name: "agents" }, fresh, "key-1", NOW);
  assert.deepEqual(apiKeyOf(key), {
    id: "key-1",
    name: "agents",
    prefix: fresh.prefix,
    scopes: "runtime",
    revoked: false,
    created_at: "2026-11-20T12:00:00.000Z",
  });
  assert.equal(draftKey("acme", { name: "x", scopes: "ci" }, fresh, "k", NOW).scopes, "ci");
});

test("a key expires only on request, the given number of days after its creation", () => {
  const fresh = createApiKey();
  const key = draftKey("acme", { name: "agents", expires_in_days: 90 }, fresh, "key-1", NOW);
  assert.equal(apiKeyOf(key).expires_at, "2027-02-18T12:00:00.000Z");
  for (const days of [0, -1, 1.5, 3651, "90"]) {
    const given = { name: "agents", expires_in_days: days };
    assert.throws(() => apiKeyCreateBody.read(given), {
      status: 400,
      message: /^expires_in_days: /,
    });
  }
  const absent = apiKeyCreateBody.read({ name: "agents", expires_in_days: null });
  assert.deepEqual(absent, { name: "agents" });
});

test("the stored record does not contain the key, and the public form not its hash", () => {
  const fresh = createApiKey();
  const key = draftKey("acme", { name: "agents" }, fresh, "key-1", NOW);
  assert.ok(!JSON.stringify(key).includes(fresh.text));
  assert.ok(!JSON.stringify(apiKeyOf(key)).includes(fresh.hash));
});

test("a key needs a name", () => {
  assert.deepEqual(apiKeyCreateBody.read({ name: " agents ", scopes: null }), { name: "agents" });
  for (const name of [undefined, null, "", "  "]) {
    assert.throws(() => apiKeyCreateBody.read({ name }), {
      status: 400,
      message: "name: required",
    });
  }
});
