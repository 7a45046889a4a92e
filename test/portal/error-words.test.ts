import assert from "node:assert/strict";
import { test } from "node:test";
import { inWords } from "../../src/portal/error-words.ts";

const MESSAGES = [
  ["expires_in_days: expected at least 1", "Days until it expires: expected at least 1"],
  ["settings[2].key: required", "Key in row 3: required, but empty"],
  ["admin_email: expected an email address", "First admin's email: expected an email address"],
  [
    "admin_password: expected 10 to 256 characters",
    "First admin's password: expected 10 to 256 characters",
  ],
  ["name: expected a string", "Name: expected a text"],
  [
    "from: expected an RFC 3339 date and time, such as 2026-01-31T12:00:00Z (a + in a query is %2B)",
    "From: expected a date and time, such as 2026-01-31T12:00:00Z",
  ],
] as const;

for (const [message, words] of MESSAGES) {
  test(`people read "${words}"`, () => assert.equal(inWords(message), words));
}

test("the place in a document stays beside the label of its field", () => {
  assert.equal(
    inWords("yaml, line 2, column 4: rules: required"),
    "Policy document, line 2, column 4: rules: required",
  );
});

test("a message without a known field stays as it is", () => {
  for (const message of ["The current password is wrong", "x_y: expected a text", ""]) {
    assert.equal(inWords(message), message);
  }
});
