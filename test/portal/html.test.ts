import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { html, prose } from "../../src/portal/html.ts";

test("a value in a template cannot become markup", () => {
  const hostile = `<script>alert("1")</script> & 'quotes'`;
  assert.equal(
    html`<p title="${hostile}">${hostile}</p>`.toString(),
    '<p title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;quotes&#39;">' +
      "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;quotes&#39;</p>",
  );
});

test("templates nest, lists are joined, and absent values write nothing", () => {
  const items = ["a", "<b>"].map((item) => html`<i>${item}</i>`);
  assert.equal(
    html`<b>${items}${undefined}${7}</b>`.toString(),
    "<b><i>a</i><i>&lt;b&gt;</i>7</b>",
  );
});

test("white space of the source is removed, and between words it stays", () => {
  const list = html`<ul>
    <li class="${"one"}"><b>a</b> ${"b"} <i>c</i>d</li>
    ${undefined}
  </ul>`;
  assert.equal(list.toString(), '<ul><li class="one"><b>a</b> b <i>c</i>d</li></ul>');
});

test("an object that only looks like `Html` is escaped", () => {
  const impostor = { toString: () => "<b>" } as unknown as string;
  assert.throws(() => html`${impostor}`);
});

test("no text can add a tag or end an attribute", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.doesNotMatch(html`${text}`.toString(), /[<>"']/);
      assert.doesNotMatch(
        prose(text)
          .toString()
          .replace(/<\/?code>/g, ""),
        /[<>"']/,
      );
    }),
  );
});

test("backticks in prose mark code, and an unpaired one stays", () => {
  assert.equal(
    prose("Set `PORT` to `<0>`.").toString(),
    "Set <code>PORT</code> to <code>&lt;0&gt;</code>.",
  );
  assert.equal(prose("It`s").toString(), "It`s");
});
