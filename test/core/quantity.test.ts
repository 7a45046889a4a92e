import assert from "node:assert/strict";
import { test } from "node:test";
import { quantity } from "../../src/core/quantity.ts";

test("one thing is singular, any other number plural", () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => quantity(count, "event")),
    ["0 events", "1 event", "2 events"],
  );
});
