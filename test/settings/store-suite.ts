import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { SettingsStore } from "../../src/settings/store.ts";

/**
 * The tests that every engine's settings store passes; `open` returns an empty one that knows
 * `acme` and `globex`.
 */
export function settingsStoreSuite(open: (t: TestContext) => Promise<SettingsStore>): void {
  test("an organization has no settings at first", async (t) => {
    const settings = await open(t);
    assert.deepEqual(await settings.list("acme"), []);
  });

  test("settings are replaced as a whole and keep their order", async (t) => {
    const settings = await open(t);
    await settings.replace("acme", [{ key: "old", value: "1" }]);
    const pairs = [
      { key: "b", value: "" },
      { key: "a", value: "é\n" },
    ];
    await settings.replace("acme", pairs);
    assert.deepEqual(await settings.list("acme"), pairs);
  });

  test("each organization has its own settings", async (t) => {
    const settings = await open(t);
    await settings.replace("acme", [{ key: "a", value: "1" }]);
    assert.deepEqual(await settings.list("globex"), []);
    await settings.replace("globex", []);
    assert.equal((await settings.list("acme")).length, 1);
  });

  test("of concurrent replacements the last one stays", async (t) => {
    const settings = await open(t);
    const values = ["1", "2", "3"];
    await Promise.all(values.map((value) => settings.replace("acme", [{ key: "a", value }])));
    assert.deepEqual(await settings.list("acme"), [{ key: "a", value: "3" }]);
  });
}
