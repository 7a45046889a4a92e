import assert from "node:assert/strict";
import { test } from "node:test";
import { piecesOf, type Row, type Selection } from "../../../src/storage/postgres/audit/rows.ts";
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
