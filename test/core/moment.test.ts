import assert from "node:assert/strict";
import { test } from "node:test";
import { readMoment } from "../../src/core/moment.ts";

test("a moment is read in any offset, and absence stays absence", () => {
  assert.equal(readMoment("from", "2026-11-20T21:30:00+01:00"), Date.UTC(2026, 10, 20, 20, 30));
  assert.equal(readMoment("from", undefined), undefined);
});

test("what is no moment is refused by the parameter's name", () => {
  assert.throws(() => readMoment("to", "yesterday"), /to: expected an RFC 3339 date and time/);
});
