import assert from "node:assert/strict";
import { test } from "node:test";
import { nextTurn } from "../../src/core/timers.ts";
import { beginLong } from "../../src/http/long-answers.ts";
import { start } from "../support/start.ts";

const MIB = 1 << 20;

test("of many long answers 8 MiB begin in each turn of the event loop, in their order", async () => {
  const begun: number[] = [];
  for (let i = 0; i < 20; i++) beginLong(MIB, () => void begun.push(i));
  assert.equal(begun.length, 8);
  await nextTurn();
  assert.equal(begun.length, 16);
  await nextTurn();
  assert.deepEqual(
    begun,
    Array.from({ length: 20 }, (_, i) => i),
  );
  await nextTurn();
  beginLong(MIB, () => void begun.push(20));
  assert.equal(begun.length, 21, "the first one of a turn begins at once");
});

test("an answer that is larger than what begins in a turn begins alone", async () => {
  await nextTurn();
  await nextTurn();
  let begun = 0;
  for (let i = 0; i < 3; i++) beginLong(9 * MIB, () => void begun++);
  assert.equal(begun, 1);
  await nextTurn();
  assert.equal(begun, 2);
  await nextTurn();
  assert.equal(begun, 3);
});

test("many runtimes that fetch a large policy together get all of it", async (t) => {
  const app = await start(t);
  const rule = "{ id: a, effect: deny, match: { commands: [{ prefix: git }] } }";
  const yaml = `schema: signalbox/policy/v1\ndefault: allow\nrules: [${rule}]\n#${"x".repeat(900_000)}`;
  await app.post("/api/public/policies", { version: "v1", yaml });
  const fetched = await Promise.all(
    Array.from({ length: 40 }, () => app.get("/api/public/policies?active=true")),
  );
  assert.ok(fetched.every(({ body }) => body.yaml === yaml));
});
