import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import {
  piecesOf,
  readPortion,
  type Row,
  type Selection,
} from "../../../src/storage/postgres/audit/rows.ts";
import type { Database } from "../../../src/storage/postgres/database.ts";

test("while a reader has a piece, neither its lines nor any rows are kept beside it", async () => {
  const rows: Row[] = ["one", "two", "three"].map((line, n) => ({
    ...{ row: n, day: "2026-11-26", timestamp: n, line },
  }));
  const last = rows[1]; // of the piece; the next rows are read after it
  const selection = { signal: undefined } as Selection;
  const none = {} as Database; // all wanted lines are read
  const pieces = piecesOf(none, selection, rows, 2, (lines) => Buffer.from(lines.join()));
  assert.equal(String((await pieces.next()).value), "one,two");
  assert.deepEqual(rows, []);
  assert.equal(last?.line, null);
  assert.equal((await pieces.next()).done, true);
});

test("the exports of an organization read two portions at a time", async () => {
  const asked: (() => void)[] = [];
  const database = {
    query: () => new Promise((resolve) => asked.push(() => resolve([]))),
  } as unknown as Database;
  const moment = { days: [{ day: "2026-11-26", oldest: 0, newest: 1 }], last_seq: 1, total: 1 };
  const selection = { organization: "acme", filter: {}, moment } as unknown as Selection;
  const reads = Array.from({ length: 5 }, () => readPortion(database, selection, 0, 10));
  for (let answered = 0; answered < 5; answered++) {
    for (let turn = 0; turn < 10; turn++) await turnOfTheLoop();
    assert.equal(asked.length, Math.min(5, answered + 2));
    asked[answered]?.();
  }
  await Promise.all(reads);
});
