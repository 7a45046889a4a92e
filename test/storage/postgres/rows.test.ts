import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { closing } from "../../../src/core/pieces.ts";
import { piecesOf, type Row, type Selection } from "../../../src/storage/postgres/audit/rows.ts";

test("between two pieces of an export neither the piece nor its rows are kept", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const kept: WeakRef<object>[] = [];
  const rows = ["one", "two"].map((line, n): Row => {
    const row = { ...{ row: n, day: "2026-11-26", timestamp: n, line } };
    kept.push(new WeakRef(row));
    return row;
  });
  const selection = { organization: "acme" } as Selection;
  const pieces = closing(
    piecesOf(selection, rows.splice(0), (lines) => {
      const piece = Buffer.from(lines.join());
      kept.push(new WeakRef(piece));
      return piece;
    }),
    () => {},
  )[Symbol.asyncIterator]();
  const text = async (): Promise<string> => String((await pieces.next()).value);
  assert.equal(await text(), "one,two");
  await turnOfTheLoop(); // a reference keeps its target until the turn has ended
  collect();
  assert.deepEqual(
    kept.map((reference) => reference.deref()),
    [undefined, undefined, undefined],
  );
  assert.equal((await pieces.next()).done, true);
});

test("the exports of an organization read two portions at a time", async () => {
  const asked: (() => void)[] = [];
  const database = { query: () => new Promise((resolve) => asked.push(() => resolve([]))) };
  const moment = { days: [{ day: "2026-11-26", oldest: 0, newest: 1 }], last_seq: 1, total: 0 };
  const selection = { database, organization: "acme", filter: {}, moment } as unknown as Selection;
  const joined = (lines: readonly string[]) => Buffer.from(lines.join());
  const reads = Array.from({ length: 5 }, () =>
    piecesOf(selection, undefined, joined)[Symbol.asyncIterator]().next(),
  );
  for (let answered = 0; answered < 5; answered++) {
    for (let turn = 0; turn < 10; turn++) await turnOfTheLoop();
    assert.equal(asked.length, Math.min(5, answered + 2));
    asked[answered]?.();
  }
  await Promise.all(reads);
});
