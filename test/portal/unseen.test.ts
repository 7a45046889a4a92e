import assert from "node:assert/strict";
import { test } from "node:test";
import { html, plainText } from "../../src/portal/html.ts";

function shown(text: string): string {
  return html`${text}`.toString();
}

test("direction marks are named, each in an element of its own", () => {
  assert.equal(
    shown("rm \u202etxt.exe"),
    'rm <span class="unseen" title="U+202E">\u202e</span>txt.exe',
  );
});

test("invisible letters, escapes and empty characters are named, one name for each run", () => {
  assert.match(shown("a\u{e0041}\u{e0042}b"), /title="U\+E0041 U\+E0042"/);
  assert.match(shown("\u001b[2J"), /title="U\+001B"/);
  assert.match(shown("pay\u200bpal"), /pay<span class="unseen" title="U\+200B">/);
  assert.match(shown("\u{e0041}".repeat(50)), /title="U\+E0041(?: U\+E0041){3} and 46 more"/);
});

test("line ends, tabs, emoji and scripts with joiners stay unchanged", () => {
  for (const text of ["a\tb\r\nc", "👩‍👩‍👧‍👦 ❤️", "می‌خواهم", "مرحبا"]) assert.equal(shown(text), text);
});

test("attributes and elements of text alone keep the characters as they are", () => {
  const name = "a\u202eb";
  assert.equal(
    html`<a href="/x?${name}" title="${name} ${name}">${name}</a>`.toString(),
    `<a href="/x?${name}" title="${name} ${name}">a<span class="unseen" title="U+202E">\u202e</span>b</a>`,
  );
  assert.equal(html` value="${name}"`.toString(), ` value="${name}"`);
  assert.equal(
    html`<option value="1">${name}</option>`.toString(),
    `<option value="1">${name}</option>`,
  );
  assert.equal(html`<title>x ${name}</title>`.toString(), `<title>x ${name}</title>`);
  assert.equal(
    html`<textarea id="y">${plainText(name)}</textarea>`.toString(),
    `<textarea id="y">${name}</textarea>`,
  );
});

test("markup in the text stays text, and no character is lost", () => {
  const text = '<b>\u202e"</b>\u2066';
  const words = shown(text).replace(/<[^>]*>/g, "");
  assert.equal(
    words.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"'),
    text,
  );
  assert.doesNotMatch(shown(text), /<b>/);
});
