import assert from "node:assert/strict";
import { test } from "node:test";
import { wildcardTest } from "../../src/audit/wildcards.ts";

for (const [text, matching, others] of [
  ["ada*", ["ada", "Ada Lovelace", "ada*"], ["", "lada", "ad"]],
  ["*laptop*", ["laptop", "Ada-LAPTOP-2"], ["lap top"]],
  ["*-prod", ["k8s-prod", "-prod"], ["k8s-prod-2", "prod"]],
  ["k8s-*-prod", ["k8s--prod", "k8s-eu-west-prod"], ["k8s-prod"]],
  ["aba*aba", ["abaaba", "aba aba"], ["aba", "ababa"]],
  ["a*b*c", ["abc", "a b b c c"], ["acb", "abbb"]],
  ["*", ["", "any"], []],
  ["a**", ["a", "ab"], ["ba"]],
  ["Ada", ["ada", "ADA"], ["adam"]],
  ["ä*", ["ä", "äb"], ["Ä"]],
  ["é@Az[`{*", ["é@aZ[`{"], ["é`Az[`{", "É@Az[`{", "é@Az{`{"]],
  ["*ŁA", ["łŁa"], ["ła", "Ła\u0141", "aA"]],
  ["a.b+*", ["a.b+c"], ["axbbc"]],
  ["*😀", ["x😀"], ["x\ude00"]],
  ["*\ufffd", ["x\ufffd", "x\ude00"], []],
] as const) {
  test(`${JSON.stringify(text)} matches what it describes, as a whole`, () => {
    const matches = wildcardTest(text);
    for (const value of matching) assert.equal(matches(value), true, value);
    for (const value of others) assert.equal(matches(value), false, value);
    assert.equal(matches(undefined), false);
  });
}

test("many asterisks take no longer than a look at the text for each", () => {
  const value = "a".repeat(64 << 10);
  assert.equal(wildcardTest(`${"*a".repeat(2_000)}*b`)(value), false);
  assert.equal(wildcardTest(`${"*a".repeat(2_000)}*`)(value), true);
});

test("long parts are looked for in linear time", () => {
  const half = "a".repeat(3_500);
  const matches = wildcardTest(`*${half}b${half}*`);
  assert.equal(matches(`x${half}B${half}`), true);
  const start = process.cpuUsage();
  for (let i = 0; i < 100; i++) assert.equal(matches(`${i}${"a".repeat(64 << 10)}`), false);
  const { user, system } = process.cpuUsage(start);
  // Comparing half of it at each position takes 7 seconds.
  assert.ok(user + system < 2_000_000, `${user + system} µs`);
});

test("the letter case of a long text takes linear time, and little for each letter", () => {
  const matches = wildcardTest("*zZ");
  const texts = ["aA".repeat(32_000), `${"éAaA".repeat(12_000)}Zz`];
  const start = process.cpuUsage();
  for (let i = 0; i < 200; i++) assert.deepEqual(texts.map(matches), [false, true]);
  const { user, system } = process.cpuUsage(start);
  // With a call for each run of capitals it takes 2 seconds.
  assert.ok(user + system < 500_000, `${user + system} µs`);
});
