import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ACCESS_PATH, ACCESS_TABS, ACTIVITY_PATH } from "../../src/portal/access-tabs.ts";
import { changedFields, deedOf, originOf } from "../../src/portal/activity-words.ts";
import { modeOf } from "../../src/portal/server/mode.ts";
import { pageLink } from "../../src/portal/page-link.ts";
import { actorName } from "../../src/portal/pages/access-activity.ts";
import { apiKeys } from "../../src/portal/pages/access-keys.ts";
import { organizationSettings } from "../../src/portal/pages/access-settings.ts";
import { leastRolesOf, withheldFrom } from "../../src/portal/withheld.ts";
import { routes } from "../../src/routes.ts";
import { ADMIN_SETTINGS, start } from "../support/start.ts";

let isRequired = false;
const app = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: () => isRequired });
await app.post("/api/v1/api-keys", { name: "wagon-7" });
await app.put("/api/v1/settings", { settings: [{ key: "wagon-7", value: "" }] });
await app.post("/api/v1/users", { email: "wagon-7@example.com", password: "a good password" });

/** The pages that contain data of the organization. */
async function pagesWithData(): Promise<readonly string[]> {
  const pages = await Promise.all(
    ACCESS_TABS.map(async ({ tab }) => [tab, await app.get(`${ACCESS_PATH}/${tab}`)] as const),
  );
  assert.ok(pages.every(([, { status }]) => status === 200));
  return pages.filter(([, { text }]) => text.includes("wagon-7")).map(([tab]) => tab);
}

test("the pages of Access contain data only while no credentials are required", async () => {
  isRequired = false;
  assert.deepEqual(await pagesWithData(), ["keys", "users", "settings", "activity"]);
  isRequired = true;
  assert.deepEqual(await pagesWithData(), []);
});

test("in an open demo pages use the public surface, and Access requires a sign-in", () => {
  const demo = { demo: { nextResetAt: undefined }, publicSurface: "open", requireAuth: () => true };
  const description = demo as unknown as Parameters<typeof modeOf>[0];
  assert.deepEqual(modeOf(description), { isOpen: true, prefix: "/api/public" });
  assert.deepEqual(modeOf(description, true), { isOpen: false, prefix: "/api/v1" });
});

test("no page contains a hash or the text of a key", async () => {
  isRequired = false;
  const created = await app.post("/api/v1/api-keys", { name: "secret" });
  const pages = await Promise.all(ACCESS_TABS.map(({ tab }) => app.get(`${ACCESS_PATH}/${tab}`)));
  for (const { text } of pages) {
    assert.ok(!text.includes(created.body.api_key));
    assert.doesNotMatch(text, /scrypt|hash/);
  }
});

test("empty lists show a viewer no lines that take another role", async () => {
  isRequired = false;
  const { body } = await app.get("/api/v1/settings");
  const answer = { ...body, settings: [] };
  const context = { now: 0, apiUrl: "http://127.0.0.1/api/v1", needsCredential: true };
  const withheld = withheldFrom("viewer", leastRolesOf(routes));
  const shown = (reader: object): string =>
    [
      apiKeys.render({ ...context, ...reader, keys: [] }),
      organizationSettings.render({ ...context, ...reader, answer }),
    ].join("");
  assert.match(shown({}), /curl -X POST .*curl -X PUT /s);
  assert.doesNotMatch(shown({ withheld }), /curl/);
});

test("the address filters and pages the activity, and leaves out empty parameters", async () => {
  isRequired = false;
  const page = await app.get(`${ACCESS_PATH}/activity?action=user&offset=0`);
  assert.match(page.text, /added the user/);
  assert.doesNotMatch(page.text, /changed settings/);
  assert.equal(
    pageLink(ACTIVITY_PATH, { action: "", actor: "a b&c", offset: 50 }).split("?")[1],
    "actor=a%20b%26c&offset=50",
  );
  assert.equal(pageLink(ACTIVITY_PATH, { q: undefined, offset: 0 }), ACTIVITY_PATH);
});

test("every recorded action has a verb", () => {
  const actions = routes.flatMap(({ change }) =>
    change ? [change.action, ...Object.values(change.refusals ?? {})] : [],
  );
  const without = actions.filter((action) => action !== undefined && deedOf(action) === action);
  assert.deepEqual(without, []);
  assert.equal(deedOf("rail.laid"), "rail.laid");
});

test("a change shows the fields that differ, whatever their names and types", () => {
  const before = { role: "viewer", active: true, ["__proto__"]: "a" };
  assert.deepEqual(changedFields(before, { role: "admin", active: true }), [
    { name: "role", before: "viewer", after: "admin" },
    { name: "__proto__", before: "a", after: undefined },
  ]);
  assert.deepEqual(changedFields(undefined, { list: [1], none: null }), [
    { name: "list", before: undefined, after: "[1]" },
  ]);
});

test("a change on the server is not said to be a user's, through the API", () => {
  assert.equal(actorName({ kind: "command" }), "The command line");
  assert.equal(originOf("command"), "on the server");
  assert.equal(actorName({ kind: "service" }), "The service");
  assert.equal(originOf("service"), "on the server");
  assert.equal(originOf("v1"), "by /api/v1");
  assert.equal(originOf("public"), "by /api/public");
});
