import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ANEW,
  joinedHref,
  queryOf,
  rangeWords,
  readView,
  repeatedHref,
  searchesFrom,
  setsAnew,
  shortMoment,
  viewHref,
  type AuditView,
} from "../../../src/portal/pages/audit-view.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");

function viewOf(search: string): AuditView {
  const parameters = new URLSearchParams(search);
  return readView((name) => parameters.get(name));
}

test("a view is read from its address and written back unchanged", () => {
  const view = viewOf(
    "q=a%20%26%20b&decision=DENIED&trace_id=t%2F1&range=7d&event=e%231&live=true",
  );
  assert.deepEqual(viewOf(new URL(viewHref(view), "http://x").search), view);
  assert.equal(viewHref(viewOf("")), "/portal/audit");
  assert.equal(viewHref(viewOf("q=&other=1")), "/portal/audit");
});

test("a filter that a link sets or drops is exact; the others keep their asterisks", () => {
  const view = viewOf("executor=a*&provider=g*&wildcards=provider,executor,policy");
  const wildcards = (changes: Parameters<typeof viewHref>[1]) =>
    viewOf(new URL(viewHref(view, changes), "http://x").search).wildcards;
  assert.equal(wildcards({ range: "1h" }), "provider,executor");
  assert.equal(wildcards({ executor: "kube*" }), "provider");
  assert.equal(wildcards({ executor: undefined }), "provider");
  assert.equal(wildcards({ executor: undefined, provider: undefined }), undefined);
  const link = viewOf("range=1h&provider=git");
  assert.match(joinedHref(link, "provider", view), /executor=a\*&wildcards=executor$/);
  assert.deepEqual(queryOf(view, NOW).wildcards, "provider,executor");
});

test("a link of a list leaves out long filters, and the view that it is joined to keeps them", () => {
  const view = viewOf(`executor=${"a".repeat(3_000)}&provider=g*&wildcards=provider&event=e`);
  const link = repeatedHref(view, { runtime: "r", ...ANEW });
  assert.equal(link, "/portal/audit?runtime=r");
  const joined = joinedHref(viewOf("runtime=r"), setsAnew("runtime"), view);
  assert.equal(joined, viewHref(view, { runtime: "r", ...ANEW }));
  assert.equal(repeatedHref(viewOf("executor=a"), { runtime: "r" }), "/portal/audit?executor=a&runtime=r"); // oxfmt-ignore
});

test("a time without an offset, as from a form field, means UTC", () => {
  assert.equal(viewOf("from=2026-11-20T20:30").from, "2026-11-20T20:30:00Z");
  assert.equal(viewOf("from=2026-11-20 20:30").from, "2026-11-20T20:30:00Z");
  assert.equal(viewOf("from=2026-11-20T20:30:05").from, "2026-11-20T20:30:05Z");
  assert.equal(viewOf("to=2026-11-20").to, "2026-11-20T00:00:00Z");
  assert.equal(viewOf("to=2026-11-20T20:30:00%2B02:00").to, "2026-11-20T20:30:00+02:00");
  assert.equal(viewOf("to=never").to, "never");
});

test("addresses keep the view and write times in their shortest form", () => {
  const view = viewOf("q=a+b&range=1h&event=e1");
  const searchOf = searchesFrom(view, { range: undefined, event: undefined });
  assert.equal(searchOf({ event: "e&2" }), "?q=a%20b&event=e%262");
  assert.equal(
    searchesFrom(viewOf("event=e1"), { event: undefined })({ event: "e2" }),
    "?event=e2",
  );
  for (const [moment, short] of [
    ["2026-11-20T00:00:00.000Z", "2026-11-20"],
    ["2026-11-20T20:30:00.000Z", "2026-11-20T20:30"],
    ["2026-11-20T20:30:05.000Z", "2026-11-20T20:30:05.000Z"],
    ["+052026-11-20T20:30:00.000Z", "+052026-11-20T20:30:00.000Z"],
    ["-000001-11-20T00:00:00.000Z", "-000001-11-20T00:00:00.000Z"],
  ] as const) {
    const ms = Date.parse(moment);
    assert.equal(shortMoment(ms), short);
    const { from = "" } = viewOf(searchOf({ from: shortMoment(ms) }));
    assert.equal(Date.parse(from), ms);
  }
});

test("a quick range ends now, and `from` and `to` take precedence", () => {
  assert.deepEqual(queryOf(viewOf("range=1h"), NOW), { from: "2026-11-20T19:30:00.000Z" });
  assert.deepEqual(queryOf(viewOf("range=1h&to=2026-11-20"), NOW), { to: "2026-11-20T00:00:00Z" });
  assert.deepEqual(queryOf(viewOf("range=2y"), NOW), {});
});

test("only filters reach the service", () => {
  const query = queryOf(viewOf("policy=v1&event=e1&cursor=c&live=true&range=24h"), NOW);
  assert.deepEqual(query, { policy: "v1", from: "2026-11-19T20:30:00.000Z" });
});

test("the time range of a view is written in words", () => {
  assert.equal(rangeWords(viewOf("range=24h")), "in the last 24 hours");
  assert.equal(rangeWords(viewOf("")), "of all time");
  assert.equal(rangeWords(viewOf("from=2026-11-20")), "since 2026-11-20 00:00:00 UTC");
  assert.equal(rangeWords(viewOf("to=2026-11-20")), "before 2026-11-20 00:00:00 UTC");
});
