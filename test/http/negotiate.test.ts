import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { prefersHtml } from "../../src/http/negotiate.ts";

const BROWSER =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

const cases: readonly (readonly [accept: string | undefined, answer: "HTML" | "JSON"])[] = [
  [undefined, "JSON"],
  ["", "JSON"],
  ["*/*", "JSON"],
  ["application/json", "JSON"],
  ["text/html", "HTML"],
  ["TEXT/HTML", "HTML"],
  [BROWSER, "HTML"],
  ["text/*", "HTML"],
  ["text/*, */*", "HTML"],
  ["application/*, text/*", "JSON"],
  ["text/html, application/json", "JSON"],
  ["application/json, text/html", "JSON"],
  ["text/html, */*", "HTML"],
  ["text/html, application/*", "HTML"],
  ["text/*, application/json", "JSON"],
  ["text/html;q=0.5, application/json;q=0.4", "HTML"],
  ["text/html;q=0.4, application/json;q=0.5", "JSON"],
  ["text/html;q=0.4, */*;q=0.5", "JSON"],
  ["text/html;q=0.501, */*;q=0.5", "HTML"],
  ["text/html;q=0", "JSON"],
  ["text/html;q=0, */*", "JSON"],
  ["text/html;q=0.000, application/json;q=0", "JSON"],
  ["application/json;q=0, */*", "HTML"],
  ["application/json;q=0, */*;q=0.001", "HTML"],
  ["image/png", "JSON"],
  ["text/plain", "JSON"],
  ["text/html;charset=utf-8, application/json", "HTML"],
  ['text/html;charset="UTF-8", application/json', "HTML"],
  ["text/html;level=1", "JSON"],
  ['text/plain;note="a,text/html;q=1,b"', "JSON"],
  ['text/plain;note="\\",text/html", text/html', "HTML"],
  ['text/plain;note="never ends, text/html', "JSON"],
  ["text/html;q=high", "JSON"],
  ["text/html;q=1.5", "JSON"],
  ["text/html;q=-1", "JSON"],
  ["text/html;q=2, text/html;q=0.1", "HTML"],
  ["text/html ; q = 0.5 , */* ; q=0.1", "HTML"],
  ["text/html;q=1;version=3", "HTML"],
  [",,text/html,,", "HTML"],
  ["text/html/extra", "JSON"],
  ["text", "JSON"],
  ["*/html", "JSON"],
  ["text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "HTML"],
];

for (const [accept, answer] of cases) {
  test(`Accept ${accept === undefined ? "absent" : JSON.stringify(accept)} is answered with ${answer}`, () => {
    assert.equal(prefersHtml(accept), answer === "HTML");
  });
}

test("any text is answered without an exception", () => {
  const piece = fc.constantFrom(
    "text/html",
    "*/*",
    ",",
    ";",
    "q=",
    "0.5",
    '"',
    "\\",
    "=",
    " ",
    "a",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((parts) => parts.join("")),
      ),
      (accept) => {
        assert.equal(typeof prefersHtml(accept), "boolean");
      },
    ),
  );
});

test("a field that is too long to be read quickly counts as absent", () => {
  const padding = (length: number) => "a/b,".repeat(length / 4);
  assert.ok(prefersHtml(`${padding(1_000)}text/html`));
  assert.ok(!prefersHtml(`${padding(1_024)}text/html`));
});
