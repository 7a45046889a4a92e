import assert from "node:assert/strict";
import { test } from "node:test";
import { html } from "../../src/portal/html.ts";
import { unbroken } from "../../src/portal/unbroken.ts";

const shown = (text: string): string => html`<code>${unbroken(text)}</code>`.toString();
const whole = (word: string): string => `<span class="nowrap">${word}</span>`;

test("the words with hyphens stay whole, and no white space is lost", () => {
  const command = "git  push --force\n-u a-b <x>";
  const [force, u, ab] = ["--force", "-u", "a-b"].map(whole);
  assert.equal(shown(command), `<code>git  push ${force}\n${u} ${ab} &lt;x&gt;</code>`);
});

test("a word that may be wider than its place may break, as may a long text", () => {
  const edge = `-${"x".repeat(23)}`;
  assert.equal(shown(`${edge} ${edge}y`), `<code>${whole(edge)} ${edge}y</code>`);
  const long = "ls -l ".repeat(167);
  assert.ok(long.length > 1_000);
  assert.equal(shown(long), `<code>${long}</code>`);
});
