import assert from "node:assert/strict";
import { test } from "node:test";
import { metadataRoutes } from "../../../src/metadata/routes.ts";
import { homePage } from "../../../src/portal/pages/home.ts";
import { portalRoutes } from "../../../src/portal/routes.ts";
import { STYLESHEET_PATH } from "../../../src/portal/style.ts";
import { describeService } from "../../support/service-description.ts";

const rows = [...metadataRoutes, ...portalRoutes];

test("the front page says what runs, since when, and how to use it", () => {
  const page = homePage(describeService(rows)).html;
  assert.match(page, /Running/);
  assert.match(page, /<dd>1\.2\.3<\/dd>/);
  assert.match(page, /<dd>1 min 30 s<\/dd>/);
  assert.match(page, /https:\/\/signalbox\.test\/api\/public\/policies\?active=true/);
  for (const path of ["/portal/api", "/openapi.yaml", "/metadata/authentication"]) {
    assert.match(page, new RegExp(`href="${path}"`));
  }
});

test("the commands use /api/v1 with credentials where the public surface is off", () => {
  const page = homePage(
    describeService(rows, { publicSurface: "off", requireAuth: () => true }),
  ).html;
  assert.match(page, /api\/v1\/audit/);
  assert.match(page, /X-API-Key: &lt;api_key&gt;/);
  assert.doesNotMatch(page, /api\/public/);
});

test("what the operator configured is shown as text", () => {
  const page = homePage(describeService(rows, { environment: "<b>prod</b>" })).html;
  assert.match(page, /&lt;b&gt;prod&lt;\/b&gt;/);
});

test("the stylesheet of the pages is served under the path that they name", () => {
  const page = homePage(describeService(rows)).html;
  assert.ok(page.includes(`href="${STYLESHEET_PATH}"`));
  assert.ok(portalRoutes.some(({ path }) => path === STYLESHEET_PATH));
});
