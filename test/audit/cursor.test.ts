import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  cursorAfter,
  readCursor,
  readStreamPosition,
  streamPosition,
} from "../../src/audit/cursor.ts";
import { filterOf } from "../../src/audit/filter.ts";
import { BadInput } from "../../src/core/errors.ts";

const NONE = filterOf({});
const PLACE = { timestamp: Date.parse("2026-11-20T20:30:00.123Z"), row: 42 };
const CURSOR = cursorAfter(PLACE, "acme", NONE);

function refuses(name: string, read: () => unknown): void {
  assert.throws(
    read,
    (error) => error instanceof BadInput && error.message.startsWith(`${name}: `),
  );
}

test("a cursor is read back as it was written, also at the ends of time", () => {
  const times = [
    "0000-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59.999Z",
  ];
  for (const timestamp of [0, PLACE.timestamp, ...times.map((time) => Date.parse(time))]) {
    for (const row of [1, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
      const text = cursorAfter({ timestamp, row }, "acme", NONE);
      assert.match(text, /^[\w-]+$/);
      assert.deepEqual(readCursor(text, "acme", NONE), { timestamp, row });
    }
  }
});

test("a cursor belongs to its filters, by what they mean, and to its organization", () => {
  const denied = cursorAfter(PLACE, "acme", filterOf({ decision: "denied" }));
  assert.deepEqual(readCursor(denied, "acme", filterOf({ decision: "DENIED" })), PLACE);
  refuses("cursor", () => readCursor(denied, "acme", NONE));
  refuses("cursor", () => readCursor(denied, "acme", filterOf({ q: "DENIED" })));
  refuses("cursor", () => readCursor(CURSOR, "other", NONE));
});

test("a stream position is read back, from before the first event up to the newest", () => {
  for (const row of [0, 1, 41, 42]) {
    const text = streamPosition(row, "acme");
    assert.equal(readStreamPosition(text, "acme", 42), row);
  }
  refuses("Last-Event-ID", () => readStreamPosition(streamPosition(43, "acme"), "acme", 42));
  refuses("Last-Event-ID", () => readStreamPosition(streamPosition(1, "other"), "acme", 42));
});

test("neither is taken for the other", () => {
  refuses("Last-Event-ID", () => readStreamPosition(CURSOR, "acme", 42));
  refuses("cursor", () => readCursor(streamPosition(1, "acme"), "acme", NONE));
});

test("places that no list has are refused", () => {
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
    refuses("cursor", () => readCursor(cursorAfter({ timestamp, row }, "a", NONE), "a", NONE));
  }
  for (const row of [-1, 0.5, Number.NaN, Infinity]) {
    refuses("Last-Event-ID", () => readStreamPosition(streamPosition(row, "a"), "a", 9));
  }
});

test("any other text is refused, never read as something else", () => {
  const spoiled = [CURSOR.slice(1), CURSOR.slice(0, -1), `${CURSOR}A`, `${CURSOR}=`, ` ${CURSOR}`];
  for (const text of ["x", "ünicode", "0", CURSOR.replace(/.$/, "+"), ...spoiled]) {
    refuses("cursor", () => readCursor(text, "acme", NONE));
    refuses("Last-Event-ID", () => readStreamPosition(text, "acme", 42));
  }
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      refuses("cursor", () => readCursor(text, "acme", NONE));
      refuses("Last-Event-ID", () => readStreamPosition(text, "acme", 42));
    }),
  );
});
