import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, settingsUpdateBody } from "../../src/settings/update.ts";

const read = (settings: unknown) => settingsUpdateBody.read({ settings });

test("pairs keep their order, and a value may be empty or absent", () => {
  assert.deepEqual(
    read([
      { key: "b", value: "1" },
      { key: "a", value: "" },
      { key: "c", value: null },
      { key: "__proto__" },
    ]),
    [
      { key: "b", value: "1" },
      { key: "a", value: "" },
      { key: "c", value: "" },
      { key: "__proto__", value: "" },
    ],
  );
});

for (const [fault, settings, message] of [
  ["no list", undefined, "settings: required"],
  ["a pair that is none", ["a"], "settings[0]: expected a JSON object"],
  ["a pair without a key", [{ value: "1" }], "settings[0].key: required"],
  ["a value that is no text", [{ key: "a", value: 1 }], "settings[0].value: expected a string"],
  [
    "a key twice",
    [{ key: "a" }, { key: "b" }, { key: "a" }],
    'settings[2].key: "a" is given twice',
  ],
] as const) {
  test(`${fault} is refused by its place`, () => {
    assert.throws(() => read(settings), { status: 400, message });
  });
}

test("keys have at most 128 characters, values 64 KiB, and pairs 1,000", () => {
  read([{ key: "k".repeat(128), value: "v".repeat(65_536) }]);
  assert.throws(() => read([{ key: "k".repeat(129) }]), { status: 400 });
  assert.throws(() => read([{ key: "k", value: "v".repeat(65_537) }]), { status: 400 });
  const pairs = Array.from({ length: 1_001 }, (_, index) => ({ key: String(index) }));
  assert.equal(read(pairs.slice(1)).length, 1_000);
  assert.throws(() => read(pairs), { message: "settings: expected at most 1000 items" });
});

test("all pairs together have at most 1,048,576 characters", () => {
  const pairs = Array.from({ length: 16 }, (_, index) => ({
    key: String.fromCharCode(97 + index),
    value: "v".repeat(65_535),
  }));
  assert.equal(read(pairs).length, 16);
  pairs[0] = { key: "a", value: "v".repeat(65_536) };
  assert.throws(() => read(pairs), {
    status: 400,
    message: "settings: expected at most 1048576 characters in all pairs",
  });
});

test("the difference of two lists has removed, added and changed pairs", () => {
  const pairs = (given: Readonly<Record<string, string>>) =>
    Object.entries(given).map(([key, value]) => ({ key, value }));
  const before = pairs({ same: "1", gone: "2", changed: "3" });
  const after = pairs({ same: "1", changed: "4", empty: "" });
  assert.deepEqual(differences(before, after), {
    before: { gone: "2", changed: "3" },
    after: { changed: "4", empty: "" },
  });
});
