import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createApiKey } from "../../src/auth/api-key.ts";
import { draftKey } from "../../src/keys/draft.ts";
import type { StoredKey } from "../../src/keys/schema.ts";
import type { KeyStore } from "../../src/keys/store.ts";

/** Makes a key's record. */
export function keyOf(organization: string, id: string): StoredKey {
  return draftKey(organization, { name: `${id} agents` }, createApiKey(), id, 0);
}

/** The tests that every engine's key store passes; `open` returns an empty one that knows `acme` and `globex`. */
export function keyStoreSuite(open: (t: TestContext) => Promise<KeyStore>): void {
  const first = keyOf("acme", "first");
  const second = keyOf("acme", "second");

  test("a created key is found by its hash, and listed, newest first", async (t) => {
    const keys = await open(t);
    await Promise.all([keys.create("acme", first), keys.create("acme", second)]);
    assert.deepEqual(await keys.list("acme"), [second, first]);
    assert.deepEqual(await keys.findByHash(first.hash), first);
    assert.equal(await keys.findByHash("__proto__"), undefined);
  });

  test("a revoked key stays listed and revoked, even if it is revoked again", async (t) => {
    const keys = await open(t);
    await keys.create("acme", first);
    assert.deepEqual(await keys.revoke("acme", "first"), first);
    assert.deepEqual(await keys.revoke("acme", "first"), { ...first, revoked: true });
    assert.equal((await keys.findByHash(first.hash))?.revoked, true);
    assert.deepEqual(await keys.list("acme"), [{ ...first, revoked: true }]);
  });

  test("a key of another organization does not exist", async (t) => {
    const keys = await open(t);
    await keys.create("acme", first);
    assert.deepEqual(await keys.list("globex"), []);
    assert.equal(await keys.revoke("globex", "first"), undefined);
    assert.equal((await keys.findByHash(first.hash))?.revoked, false);
    assert.equal(await keys.revoke("acme", "__proto__"), undefined);
  });

  test("a use is listed at once, and survives other changes", async (t) => {
    const keys = await open(t);
    await keys.create("acme", first);
    keys.touch("acme", "first", 1_000);
    const usedAt = async () =>
      (await keys.list("acme")).find(({ id }) => id === "first")?.last_used_at;
    assert.equal(await usedAt(), "1970-01-01T00:00:01.000Z");
    const creating = keys.create("acme", second);
    keys.touch("acme", "first", 2_000);
    await creating;
    assert.equal(await usedAt(), "1970-01-01T00:00:02.000Z");
  });
}
