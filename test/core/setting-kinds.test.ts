import assert from "node:assert/strict";
import { test } from "node:test";
import { anyText, quoted } from "../../src/core/setting-kinds.ts";
import { settingTable } from "../../src/setting-table.ts";

test("no setting takes a blank text", () => {
  for (const { variable, kind } of Object.values(settingTable)) {
    for (const blank of [" ", "\t\n", "\u00a0"]) {
      assert.equal(kind.parse(blank), undefined, variable);
    }
  }
});

test("a text may be as long as its kind says", () => {
  assert.equal(anyText(3).parse(" ab"), " ab");
  assert.equal(anyText(3).parse(" abc"), undefined);
  assert.equal(anyText(3).accepts, "text of at most 3 characters that is not blank");
});

test("a quoted value is short, and has no password", () => {
  assert.equal(quoted("postgres://ada:a/b@host"), '"postgres://…@host"');
  for (const password of ["hun,ter2", "hun ter2", 'hun"ter2', "hun@ter2", "hun?ter2"]) {
    for (const start of ["https://", "https:/", "https:", "//", "", "https:\\\\"]) {
      const shown = quoted(`${start}ada:${password}@host:99999/x`);
      assert.match(shown, /^"(?:https:)?[/\\]*…@host:99999\/x"$/);
    }
  }
  assert.equal(quoted("https://host/x?token=hunter2"), '"https://host/x?…"');
  assert.equal(quoted("ada@host"), '"ada@host"');
  assert.equal(quoted("x".repeat(198)), `"${"x".repeat(198)}"`);
  assert.equal(quoted("x".repeat(199)), `"${"x".repeat(199)}…"`);
});
