import assert from "node:assert/strict";
import { test } from "node:test";
import { finish } from "../../../src/core/scheduling/work.ts";
import { renderFleet, type FleetModel } from "../../../src/portal/pages/fleet.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");
const last_seen = new Date(NOW).toISOString();

const MODEL: FleetModel = {
  now: NOW,
  apiUrl: "https://signalbox.test/api/v1",
  needsCredential: false,
  query: {},
  limit: 200,
  summary: {
    ...{ online: 70_000, idle: 20_000, offline: 10_000, drifted: 17_123, total: 100_000 },
    policy_version: "v2",
    policy_versions: [
      { version: "v2", runtimes: 80_000, present: 72_877 },
      { version: "v1", runtimes: 20_000, present: 17_123 },
    ],
  },
  runtimes: [
    { name: "a", status: "online", last_seen, policy_version: "v1" },
    { name: "b", status: "offline", last_seen, policy_version: "v1" },
  ],
  matching: 100_000,
};

const markupOf = (model: Partial<FleetModel>): string =>
  finish(renderFleet({ ...MODEL, ...model })).toString();

/** The text of a page without its markup. */
function wordsOf(model: Partial<FleetModel>): string {
  return markupOf(model)
    .replace(/<[^>]*>/g, " ")
    .replace(/[ \n]+/g, " ")
    .replaceAll("\u202f", " ");
}

test("every filter shows its number of runtimes", () => {
  const words = wordsOf({});
  for (const said of [
    "100 000 runtimes",
    "Online (70 000)",
    "Idle (20 000)",
    "Offline (10 000)",
    "v1 (20 000)",
    "v2, active (80 000)",
    "Drifted only (17 123)",
  ]) {
    assert.ok(words.includes(said), said);
  }
  assert.match(wordsOf({ matching: 3 }), /3 of 100 000 runtimes/);
});

test("a policy version that no runtime reports stays chosen in its filter", () => {
  assert.match(markupOf({ query: { policy: "v0" } }), /<option value="v0"\s+selected>\s*v0 \(0\)/);
});

test("a page links to more runtimes up to 600, and then refers to the filters", () => {
  const query = { q: "a" };
  assert.match(markupOf({ query }), /href="\/portal\/fleet\?q=a&amp;limit=400"/);
  assert.match(markupOf({ query, limit: 599 }), /limit=600"/);
  const full = { ...MODEL, limit: 600 };
  assert.doesNotMatch(markupOf(full), /data-more/);
  assert.match(wordsOf(full), /99 998 more match/);
  const whole = { ...full, matching: 2 };
  assert.doesNotMatch(wordsOf(whole), /more match/);
});

test("only a runtime that is not offline is marked as drifted", () => {
  assert.equal(markupOf({}).match(/title="What the assigned version changes"/g)?.length, 1);
});

test("a page of labels stays short, whatever it is filtered by", () => {
  const labels = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`k${i}`, "v"]));
  const runtimes = Array.from({ length: 200 }, (_, i) => {
    return { name: `${i}`, status: "online", last_seen, labels } as const;
  });
  const long = "x".repeat(15_000);
  for (const query of [{ sort: long }, { policy: long }, { label: [`k0:v,a:${long}`] }]) {
    const markup = markupOf({ runtimes, query });
    assert.ok(markup.length < 3_000_000, String(markup.length));
    assert.ok(markup.includes('href="/portal/fleet?label=k1%3Av"'));
  }
  const few = markupOf({ runtimes, query: { label: ["k0:v, a:b"] } });
  const chosen = "/portal/fleet?label=k0%3Av&amp;label=a%3Ab";
  assert.ok(few.includes(`href="${chosen}&amp;label=k1%3Av"`));
  assert.ok(few.includes(`href="${chosen}"`));
});

test("a page of long labels and versions is made in parts, and stays small", () => {
  const long = "\u2603".repeat(64);
  const labels = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`label-${i}`, long]));
  const runtimes = Array.from({ length: 600 }, (_, i) => ({
    ...({ name: `runtime-${i}`, status: "online", last_seen, labels } as const),
  }));
  const policy_versions = Array.from({ length: 1_000 }, (_, i) => ({
    ...{ version: `${i}${"'".repeat(1_000)}`, runtimes: 1, present: 1 },
  }));
  const summary = { ...MODEL.summary, policy_versions };
  const work = renderFleet({ ...MODEL, summary, runtimes, limit: 600 });
  let parts = 0;
  for (let part = work.next(); ; part = work.next(), parts++) {
    if (part.done !== true) continue;
    const markup = part.value.toString();
    assert.ok(markup.includes("label-0:") && markup.includes("and 26 more"));
    assert.ok(markup.length < 4_000_000, String(markup.length));
    break;
  }
  assert.ok(parts >= 600, String(parts));
});
