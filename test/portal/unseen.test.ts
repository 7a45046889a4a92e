import assert from "node:assert/strict";
import { test } from "node:test";
import { html } from "../../src/portal/html.ts";
import { withUnseen } from "../../src/portal/unseen.ts";

function shown(text: string): string {
  return html`${withUnseen(text)}`.toString();
}

test("what turns the direction of a text around is named, and stands in an element of its own", () => {
  assert.equal(
    shown("rm \u202etxt.exe"),
    'rm <span class="unseen" title="U+202E">\u202e</span>txt.exe',
  );
});

test("hidden letters, escapes and empty characters are named too, a run of them together", () => {
  assert.match(shown("a\u{e0041}\u{e0042}b"), /title="U\+E0041 U\+E0042"/);
  assert.match(shown("\u001b[2J"), /title="U\+001B"/);
  assert.match(shown("pay\u200bpal"), /pay<span class="unseen" title="U\+200B">/);
  assert.match(shown("\u{e0041}".repeat(50)), /title="U\+E0041(?: U\+E0041){3} and 46 more"/);
});

test("lines, tabs, emoji and scripts that are made with joiners are left as they are", () => {
  for (const text of ["a\tb\r\nc", "👩‍👩‍👧‍👦 ❤️", "می‌خواهم", "مرحبا"]) assert.equal(shown(text), text);
});

test("markup around them stays text, and nothing of the text is lost", () => {
  const text = '<b>\u202e"</b>\u2066';
  const words = shown(text).replace(/<[^>]*>/g, "");
  assert.equal(
    words.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"'),
    text,
  );
  assert.doesNotMatch(shown(text), /<b>/);
});
