import assert from "node:assert/strict";
import { test } from "node:test";
import { finish } from "../../../src/core/scheduling/work.ts";
import { policyChanges, policyText } from "../../../src/portal/pages/policy-text.ts";
import { partsOf } from "../../support/parts-of.ts";

const MIB = 1 << 20;
const HREF = "/api/public/policies/v1";

function textOf(yaml: string): string {
  return finish(policyText({ name: "v1", yaml, href: HREF })).toString();
}

test("a document is rendered completely, with numbered lines", () => {
  const text = textOf("name: a\nrules: []\n");
  assert.match(text, /id="L1"/);
  assert.match(text, /id="L2"/);
  assert.doesNotMatch(text, /id="L3"|All of/);
});

for (const [what, yaml] of [
  ["line breaks", "\n".repeat(MIB)],
  ["one line", "a".repeat(MIB)],
  ["marks", "a: b, ".repeat(MIB / 6)],
  ["hidden characters", "a\u202e".repeat(MIB / 4)],
  ["half characters", "😀".repeat(MIB / 4)],
] as const) {
  test(`a document of 1 MiB of ${what} is cut, made part by part, and leads to all of it`, () => {
    const parts = partsOf(policyText({ name: "v1", yaml, href: HREF }));
    const text = textOf(yaml);
    assert.ok(text.length < 1.5 * MIB, `${text.length}`);
    assert.ok(parts <= 5_000, String(parts));
    assert.match(text, /<a href="\/api\/public\/policies\/v1">All of v1 as JSON<\/a>/);
    assert.equal(Buffer.from(text).toString(), text); // no split surrogate pair
  });
}

test("the difference of two documents of 1 MiB is bounded and made in steps", () => {
  const left = Array.from({ length: 100_000 }, (_, i) => (i * 3) % 9_973).join("\n");
  const right = Array.from({ length: 100_000 }, (_, i) => (i * 5) % 9_973).join("\n");
  const parts = partsOf(policyChanges({ name: "v1", yaml: left }, { name: "v2", yaml: right }));
  assert.ok(parts > 1_000, String(parts));
  const { shown, words } = finish(
    policyChanges({ name: "v1", yaml: left }, { name: "v2", yaml: right }),
  );
  assert.ok(shown.toString().length < 3 * MIB);
  assert.match(shown.toString(), /Only the first/);
  assert.match(words, /lines added, .* lines removed/);
});
