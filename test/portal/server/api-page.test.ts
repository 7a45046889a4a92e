import assert from "node:assert/strict";
import { test } from "node:test";
import { operationsOf } from "../../../src/metadata/operations.ts";
import { PortalAssets } from "../../../src/portal/server/assets.ts";
import { apiPage } from "../../../src/portal/server/api-page.ts";
import { sampleRows } from "../../metadata/sample-rows.ts";
import { routes } from "../../../src/routes.ts";
import { describeService } from "../../support/service-description.ts";

const assets = new PortalAssets(new Map());

test("every operation is on the page with its path, and every link leads somewhere", async () => {
  const page = apiPage({ description: describeService(routes), assets }).html;
  const missing = operationsOf(routes, ["public", "v1", "portal"]).filter(
    ({ path }) => !page.includes(`<code>${path}</code>`),
  );
  assert.deepEqual(missing, []);
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
  assert.ok(targets.length > 0);
  assert.deepEqual(
    targets.filter((id) => !ids.has(id)),
    [],
  );
  assert.equal(ids.size, [...page.matchAll(/ id="/g)].length);
});

test("a row on two surfaces is described once, with both paths", () => {
  const page = apiPage({ description: describeService(sampleRows), assets }).html;
  assert.equal(page.split("List wagons").length - 1, 1);
  assert.match(page, /<code>\/api\/public\/wagons<\/code>: none/);
  assert.match(page, /<code>\/api\/v1\/wagons<\/code>: JWT or X-API-Key when REQUIRE_AUTH=true/);
});

test("the page shows parameters with their bounds and escapes descriptions", () => {
  const page = apiPage({ description: describeService(sampleRows), assets }).html;
  assert.match(page, /integer in the query, at least 1, at most 50, default 10/);
  assert.match(page, /Its &lt;number&gt;\./);
});

test("the page has no inline script or style", async () => {
  const page = apiPage({ description: describeService(routes), assets }).html;
  assert.doesNotMatch(page, /<script|<style| style=| on\w+=/i);
});
