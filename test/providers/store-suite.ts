import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProviderOverrideStore } from "../../src/providers/store.ts";

/** A store over a place that is empty at first; `reopen` opens the same place as after a restart. */
export interface OverrideEngine {
  readonly store: ProviderOverrideStore;
  reopen(): Promise<OverrideEngine>;
}

/** The tests that every engine's provider overrides pass. */
export function overrideStoreSuite(engineName: string, open: () => Promise<OverrideEngine>): void {
  const it = (name: string, body: (engine: OverrideEngine) => Promise<void>): void => {
    void test(`${engineName}: ${name}`, async () => body(await open()));
  };

  it("an organization without overrides has none", async ({ store }) => {
    assert.equal((await store.all("default")).size, 0);
    assert.equal(await store.lift("default", "git"), false);
  });

  it("an override is set, replaced and removed, even across restarts", async (engine) => {
    await engine.store.set("default", "git", "degraded");
    await engine.store.set("default", "aws", "connected");
    await engine.store.set("default", "git", "offline");
    const second = await engine.reopen();
    assert.deepEqual(
      [...(await second.store.all("default"))],
      [
        ["git", "offline"],
        ["aws", "connected"],
      ],
    );
    assert.equal(await second.store.lift("default", "git"), true);
    assert.equal(await second.store.lift("default", "git"), false);
    const third = await second.reopen();
    assert.deepEqual([...(await third.store.all("default"))], [["aws", "connected"]]);
  });

  it("organizations do not see each other's overrides", async ({ store }) => {
    await store.set("default", "git", "degraded");
    assert.equal((await store.all("acme")).size, 0);
    assert.equal(await store.lift("acme", "git"), false);
    assert.equal((await store.all("default")).size, 1);
  });

  it("concurrent changes all take effect, in their order", async ({ store }) => {
    await Promise.all([
      store.set("default", "git", "degraded"),
      store.set("default", "aws", "offline"),
      store.set("default", "git", "connected"),
      store.lift("default", "aws"),
    ]);
    assert.deepEqual([...(await store.all("default"))], [["git", "connected"]]);
  });

  it("a lift is told which override it removes", async ({ store }) => {
    const seen: string[] = [];
    await Promise.all([
      store.set("default", "git", "degraded"),
      store.set("default", "git", "offline"),
      store.lift("default", "git", (before) => void seen.push(before)),
      store.lift("default", "git", (before) => void seen.push(before)),
    ]);
    assert.deepEqual(seen, ["offline"]);
  });

  it("__proto__ is an ordinary name", async (engine) => {
    await engine.store.set("default", "__proto__", "degraded");
    const { store } = await engine.reopen();
    assert.deepEqual([...(await store.all("default"))], [["__proto__", "degraded"]]);
  });
}
