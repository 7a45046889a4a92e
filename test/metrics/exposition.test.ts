import assert from "node:assert/strict";
import { test } from "node:test";
import { writeExposition, type Family } from "../../src/metrics/exposition.ts";
import { readExposition, valueOf } from "./exposition-reader.ts";

const gauge = (samples: Family["samples"], help = "Something."): Family => ({
  name: "a_gauge",
  type: "gauge",
  help,
  samples,
});

test("a family is its help, its type and a line for each sample", () => {
  const labels = { route: "/x", status: "200" };
  assert.equal(
    writeExposition([gauge([{ value: 1.5 }, { labels, value: 2 }])]),
    "# HELP a_gauge Something.\n# TYPE a_gauge gauge\n" +
      'a_gauge 1.5\na_gauge{route="/x",status="200"} 2\n',
  );
});

test("a family without samples is left out", () => {
  assert.equal(writeExposition([gauge([])]), "");
});

test("labels and help texts are read back unchanged", () => {
  const hostile = 'a"b\\c\nd\\n{e="f"} 1,';
  const text = writeExposition([gauge([{ labels: { hostile }, value: 3 }], "one\\two\nthree")]);
  const families = readExposition(text);
  assert.equal(valueOf(families, "a_gauge", { hostile }), 3);
  assert.equal(families.get("a_gauge")?.help, "one\\\\two\\nthree");
});

test("infinity, very small and very large numbers are written by the format", () => {
  const values = [Infinity, -Infinity, 1e-9, 1e21, 0, -1];
  const samples = values.map((value, i) => ({ labels: { i: String(i) }, value }));
  const read = readExposition(writeExposition([gauge(samples)])).get("a_gauge")?.samples;
  assert.deepEqual(
    read?.map(({ value }) => value),
    values,
  );
});

test("the strict reader refuses what a scraper might misread", () => {
  const head = "# HELP a A.\n# TYPE a gauge\n";
  const histogram = "# HELP h H.\n# TYPE h histogram\n";
  for (const text of [
    "a 1\n",
    `${head}a 1`,
    `${head}`,
    `${head}a one\n`,
    `${head}a 1\na 2\n`,
    `${head}b 1\n`,
    `${head}a{x="1",x="2"} 1\n`,
    `${head}a{x="1" 1\n`,
    `${head}a{x="\\q"} 1\n`,
    `${head}a 1\n${head}a 1\n`,
    "# HELP c C.\n# TYPE c counter\nc 1\n",
    `${histogram}h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`,
    `${histogram}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`,
    `${histogram}h_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 1\nh_count 3\n`,
  ]) {
    assert.throws(() => readExposition(text), assert.AssertionError, text);
  }
});
