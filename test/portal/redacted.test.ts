import assert from "node:assert/strict";
import { test } from "node:test";
import { html } from "../../src/portal/html.ts";
import { marksIn, withMarks } from "../../src/portal/redacted.ts";

function shown(text: string): string {
  return html`${withMarks(text)}`.toString();
}

const withoutTags = (markup: string): string => markup.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");

test("a mark in place of a secret is set off and names its rule", () => {
  assert.match(
    shown("mysql -p[redacted:mysql-password] db"),
    /^mysql -p<span class="redacted" title="[^"]* mysql-password"\s*>\[redacted:mysql-password\]<\/span\s*> db$/,
  );
});

test("invisible characters beside a mark are still named", () => {
  assert.match(shown("a\u202e[redacted:x]"), /class="unseen".*class="redacted"/s);
});

test("no character is lost, however many marks there are", () => {
  for (const text of ["[redacted:a]".repeat(3_000), "[redacted:", "[redacted:a b] [redacted:c]d"]) {
    assert.equal(withoutTags(shown(text)), text);
  }
});

test("the text beside marks is rendered as asked", () => {
  const upper = (text: string): string => text.toUpperCase();
  const markup = html`${withMarks("a [redacted:x] b", upper)}`.toString();
  assert.equal(withoutTags(markup), "A [redacted:x] B");
  assert.equal(withMarks("a", upper), "A");
});

test("marks are counted over all texts", () => {
  assert.equal(marksIn(["[redacted:a] [redacted:b]", undefined, "[redacted:a]", "x"]), 3);
});
