import assert from "node:assert/strict";
import { test } from "node:test";
import { entryLine, MAX_ENTRY_BYTES } from "../../src/activity/entry-line.ts";
import type { ActivityEntry } from "../../src/activity/schema.ts";
import { entryOf } from "./store-suite.ts";

const parsed = (entry: ActivityEntry): ActivityEntry => JSON.parse(entryLine(entry));
const bytesOf = (entry: ActivityEntry): number => Buffer.byteLength(entryLine(entry));

test("a text of 256 characters stays whole, a longer one is cut between two characters", () => {
  const after = { fits: "x".repeat(256), long: "x".repeat(257), half: `${"x".repeat(255)}😀` };
  assert.deepEqual(parsed(entryOf(1, { after })).after, {
    fits: "x".repeat(256),
    long: `${"x".repeat(256)}…`,
    half: `${"x".repeat(255)}…`,
  });
});

test("texts of the actor and the target are cut too", () => {
  const entry = parsed(
    entryOf(1, {
      actor: { kind: "key", id: "k".repeat(300), name: "n".repeat(300) },
      target: { type: "policy", id: "i".repeat(300) },
    }),
  );
  assert.equal(entry.actor.name, `${"n".repeat(256)}…`);
  assert.equal(entry.target.id, `${"i".repeat(256)}…`);
});

test("an entry of 4,096 bytes is kept whole, a longer one is cut", () => {
  const members = Array.from({ length: 15 }, (_, n) => [`k${n}`, "v".repeat(200)] as const);
  const base = entryOf(1, { after: Object.fromEntries(members), request_id: "" });
  const room = MAX_ENTRY_BYTES - bytesOf(base);
  const whole = { ...base, request_id: "r".repeat(room) };
  assert.equal(bytesOf(whole), MAX_ENTRY_BYTES);
  assert.deepEqual(parsed(whole), whole);
  const over = { ...base, request_id: "r".repeat(room + 1) };
  assert.ok(bytesOf(over) < MAX_ENTRY_BYTES);
  assert.deepEqual(
    parsed(over).after,
    Object.fromEntries(members.map(([name, value]) => [name, `${value.slice(0, 64)}…`])),
  );
});

for (const [what, text] of [
  ["plain", "x"],
  ["three bytes each", "語"],
  ["escaped", "\u0001"],
  ["half of a pair", "\ud800"],
] as const) {
  test(`no entry exceeds 4,096 bytes: texts of ${what}`, () => {
    const long = text.repeat(2_000);
    const facts = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`${n}${text.repeat(128)}`, long]),
    );
    const entry = entryOf(1, {
      organization_id: "o".repeat(63),
      actor: { kind: "user", id: long, email: long, name: long },
      request_id: "r".repeat(128),
      target: { type: "settings", id: long, name: long },
      before: { ...facts, list: [long] },
      after: facts,
    });
    assert.ok(bytesOf(entry) <= MAX_ENTRY_BYTES, String(bytesOf(entry)));
    assert.match(JSON.stringify(parsed(entry).after), /"…":"and \d+ more"/);
  });
}

test("the entry counts omitted members, but not absent ones", () => {
  const after = {
    absent: undefined,
    ...Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, "v".repeat(256)])),
  };
  const kept = Object.entries(parsed(entryOf(1, { after })).after ?? {});
  assert.deepEqual(kept.at(-1), ["…", `and ${100 - (kept.length - 1)} more`]);
  assert.ok(kept.length > 10);
});
