/**
 * A strict reader of the Prometheus text format 0.0.4, for tests: whatever a scraper might reject
 * is an error here, such as a family in two places or a histogram that does not add up.
 */
import assert from "node:assert/strict";

export type Labels = Readonly<Record<string, string>>;

export interface ReadSample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface ReadFamily {
  readonly help: string;
  readonly type: string;
  readonly samples: ReadSample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const HEAD = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
const VALUE = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/i;

/** Reads a whole text; fails at the first violation of the format. */
export function readExposition(text: string): ReadonlyMap<string, ReadFamily> {
  assert.ok(text.endsWith("\n"), "the last line has an end");
  const families = new Map<string, ReadFamily>();
  const lines = text.slice(0, -1).split("\n");
  for (let i = 0; i < lines.length;) {
    const [, helpWord, name = "", help = ""] = HEAD.exec(lines[i++] ?? "") ?? [];
    const [, typeWord, typed, type = ""] = HEAD.exec(lines[i++] ?? "") ?? [];
    assert.deepEqual([helpWord, typeWord, typed], ["HELP", "TYPE", name], `line ${i}`);
    assert.match(type, /^(?:counter|gauge|histogram)$/, name);
    assert.ok(!families.has(name), `${name} is in one place only`);
    assert.doesNotMatch(help.replaceAll(/\\[\\n]/g, ""), /\\/, `${name}: HELP is escaped`);
    const samples: ReadSample[] = [];
    while (i < lines.length && !lines[i]?.startsWith("#")) samples.push(readSample(lines[i++]));
    families.set(name, { help, type, samples });
    checkFamily(name, type, samples);
  }
  return families;
}

function readSample(line = ""): ReadSample {
  const [, name = "", labels = "", value = ""] = SAMPLE.exec(line) ?? [];
  assert.match(value, VALUE, `a sample: ${line}`);
  return { name, labels: readLabels(labels), value: Number(value.replace("Inf", "Infinity")) };
}

function readLabels(text: string): Labels {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = "", value = ""] = LABEL.exec(text) ?? assert.fail(`labels: ${text}`);
    assert.ok(!(name in labels), `${name} twice in ${text}`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, one: string) => (one === "n" ? "\n" : one));
  }
  return labels;
}

function checkFamily(name: string, type: string, samples: readonly ReadSample[]): void {
  assert.ok(samples.length > 0, `${name} has samples`);
  const keys = samples.map((sample) => keyOf(sample.name, sample.labels));
  assert.equal(new Set(keys).size, keys.length, `${name}: each sample once`);
  if (type === "counter") {
    assert.match(name, /_total$/);
    for (const { value } of samples) assert.ok(value >= 0, name);
  }
  if (type === "histogram") checkHistogram(name, samples);
  else for (const sample of samples) assert.equal(sample.name, name);
}

function checkHistogram(name: string, samples: readonly ReadSample[]): void {
  const series = new Map<string, ReadSample[]>();
  for (const sample of samples) {
    const { le: _, ...own } = sample.labels;
    const key = keyOf("", own);
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const [key, own] of series) {
    const place = `${name} ${key}`;
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`);
    const rest = own.filter((sample) => !buckets.includes(sample));
    assert.deepEqual(rest.map((one) => one.name).sort(), [`${name}_count`, `${name}_sum`], place);
    const bounds = buckets.map(({ labels }) => Number(labels["le"]?.replace("+Inf", "Infinity")));
    assert.deepEqual(
      bounds,
      [...new Set(bounds)].sort((a, b) => a - b),
      `${place}: le rises`,
    );
    assert.equal(buckets.at(-1)?.labels["le"], "+Inf", place);
    const counts = buckets.map(({ value }) => value);
    assert.deepEqual(
      counts,
      [...counts].sort((a, b) => a - b),
      `${place}: cumulative`,
    );
    const count = own.find((sample) => sample.name === `${name}_count`)?.value;
    assert.equal(counts.at(-1), count, `${place}: +Inf is the count`);
  }
}

function keyOf(name: string, labels: Labels): string {
  return JSON.stringify([name, ...Object.entries(labels).sort()]);
}

/** The value of the one sample with these labels; fails if it is missing. */
export function valueOf(
  families: ReadonlyMap<string, ReadFamily>,
  name: string,
  labels: Labels = {},
): number {
  const family = families.get(name.replace(/_(?:bucket|sum|count)$/, "")) ?? families.get(name);
  const key = keyOf(name, labels);
  const found = family?.samples.find((sample) => keyOf(sample.name, sample.labels) === key);
  assert.ok(found, `${name} ${JSON.stringify(labels)} is there`);
  return found.value;
}
