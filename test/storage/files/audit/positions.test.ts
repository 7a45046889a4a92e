import assert from "node:assert/strict";
import { test } from "node:test";
import { UnknownPosition } from "../../../../src/audit/store.ts";
import type { GlobalRow } from "../../../../src/storage/files/audit/index/segment-index.ts";
import {
  listPosition,
  markedPosition,
  readListPosition,
  readMarkedPosition,
  readStreamPosition,
  streamPosition,
} from "../../../../src/audit/positions.ts";

test("a position of a list is read back, also at the ends of time", () => {
  const times = [
    "0000-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
    "2026-11-20T20:30:00.123Z",
    "9999-12-31T23:59:59.999Z",
  ];
  for (const timestamp of [0, ...times.map((time) => Date.parse(time))]) {
    for (const row of [1, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
      const place = { timestamp, row: row as GlobalRow };
      assert.deepEqual(readListPosition(listPosition(place)), place);
    }
  }
});

test("a position of a stream is read back, from before the first event up to the newest", () => {
  const [newest, beyond] = [42 as GlobalRow, 43 as GlobalRow];
  for (const row of [0, 1, 41, 42] as GlobalRow[]) {
    assert.equal(readStreamPosition(streamPosition(row), newest), row);
  }
  assert.throws(() => readStreamPosition(streamPosition(beyond), newest), UnknownPosition);
});

test("a marked position of a stream is read back, and one without a mark", () => {
  for (const mark of [undefined, 0, 1, 2 ** 48 - 1]) {
    for (const row of [0, 1, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(readMarkedPosition(markedPosition({ row, mark })), { row, mark });
    }
  }
  const marked = markedPosition({ row: 1, mark: 1 });
  assert.throws(() => readListPosition(marked), UnknownPosition);
  assert.throws(() => readStreamPosition(marked, 9), UnknownPosition);
  const list = listPosition({ timestamp: 1, row: 1 });
  for (const bytes of [Buffer.alloc(0), list, markedPosition({ row: -1, mark: 1 })]) {
    assert.throws(() => readMarkedPosition(bytes), UnknownPosition);
  }
});

test("places outside of any list are refused", () => {
  for (const [timestamp, row] of [
    [Date.parse("2026-11-20T20:30:00Z"), 0],
    [0, -1],
    [0, 1.5],
    [0, Number.NaN],
    [0, 2 ** 53],
    [0.5, 1],
    [Infinity, 1],
    [253_402_300_800_000, 1],
    [-62_167_219_200_001, 1],
  ] as const) {
    assert.throws(
      () => readListPosition(listPosition({ timestamp, row: row as GlobalRow })),
      UnknownPosition,
    );
  }
  for (const row of [-1, 0.5, Number.NaN, Infinity] as GlobalRow[]) {
    assert.throws(() => readStreamPosition(streamPosition(row), 9 as GlobalRow), UnknownPosition);
  }
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.alloc(15),
    Buffer.alloc(17),
    streamPosition(1 as GlobalRow),
  ]) {
    assert.throws(() => readListPosition(bytes), UnknownPosition);
  }
});
