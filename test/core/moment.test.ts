import assert from "node:assert/strict";
import { test } from "node:test";
import { readMoment } from "../../src/core/moment.ts";

test("a timestamp is read with any offset, and an absent one is undefined", () => {
  assert.equal(readMoment("from", "2026-11-20T21:30:00+01:00"), Date.UTC(2026, 10, 20, 20, 30));
  assert.equal(readMoment("from", undefined), undefined);
});

test("an invalid timestamp is refused with the parameter's name", () => {
  assert.throws(() => readMoment("to", "yesterday"), /to: expected an RFC 3339 date and time/);
});
