/** A row takes turns unless its work and its answer are short, whatever is stored and sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { routes } from "../../src/routes.ts";

/** Rows with a line of their own. */
const OWN_LINE = [
  "POST /audit",
  "POST /audit/redact",
  "POST /otlp/v1/logs",
  "POST /policies",
  "POST /policies/draft-rule",
  "POST /policies/replay",
  "POST /policies/simulate",
  "POST /policies/validate",
];

/** Before you add a row, think of a thousand requests at a time, with the most that may be stored. */
const SHORT = [
  "DELETE /api-keys/{id}",
  "DELETE /fleet/{name}",
  "DELETE /providers/{id}",
  "DELETE /users/{id}",
  "GET /activity/verifier",
  "GET /audit/stream",
  "GET /audit/verifier",
  "GET /auth/me",
  "GET /health",
  "GET /metadata",
  "GET /metadata/apis",
  "GET /metadata/authentication",
  "GET /metadata/catalog",
  "GET /metadata/catalog/providers",
  "GET /metadata/policy.schema.json",
  "GET /metadata/versions",
  "GET /portal/assets/{hash}/{file}",
  "GET /ready",
  "GET /users/{id}",
  "GET /version",
  "PATCH /organizations/{id}",
  "PATCH /users/{id}",
  "POST /api-keys",
  "POST /audit/export-tickets",
  "POST /auth/login",
  "POST /auth/logout",
  "POST /fleet/heartbeat",
  "POST /organizations",
  "POST /policies/{version}/activate",
  "POST /rollouts",
  "POST /runtime/heartbeat",
  "POST /runtime/register",
  "POST /users",
  "PUT /auth/password",
  "PUT /providers/{id}",
  "PUT /settings",
];

test("every row that is not known to be short takes turns", () => {
  const names = routes
    .filter(({ large }) => large === undefined)
    .map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(names.toSorted(), [...OWN_LINE, ...SHORT].toSorted());
});

// Over a database each takes a connection, and a burst of them would leave none to those who report events.
test("pages and histograms of events take turns without a text too, apart from the searches", () => {
  for (const path of ["/audit", "/audit/histogram", "/audit/export"]) {
    const row = routes.find((one) => one.method === "GET" && one.path === path);
    const turnOf = (query: object) => row?.turn?.({ query } as Parameters<typeof row.turn>[0]);
    assert.deepEqual([turnOf({}), turnOf({ q: "kubectl" })], ["made", "searched"], path);
  }
});

test("a page near the newest events takes the turn of short answers, a long or deep one another", () => {
  const row = routes.find(({ method, path }) => method === "GET" && path === "/audit");
  const turnOf = (query: object) => row?.turn?.({ query } as Parameters<typeof row.turn>[0]);
  assert.equal(turnOf({ limit: 100, offset: 0 }), "listed");
  assert.equal(turnOf({ limit: 101, offset: 0 }), "made");
  assert.equal(turnOf({ limit: 20, offset: 1_000 }), "made");
  assert.equal(turnOf({ limit: 20, offset: 0, wildcards: "executor" }), "searched");
});
