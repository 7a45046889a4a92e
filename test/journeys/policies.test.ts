import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const POLICIES = "/api/public/policies";

test("the life of a policy: none, first, second, a repeated one, back to the first", async (t) => {
  const app = await start(t);
  assert.equal((await app.get(`${POLICIES}?active=true`)).status, 404);
  assert.equal((await app.get(POLICIES, { "X-Runtime-Client": "r" })).status, 404);
  assert.deepEqual((await app.get(POLICIES)).body, { active: "", policies: [] });

  const first = await app.post(POLICIES, { yaml: "rules: []\n", version: "v1" });
  assert.equal(first.status, 201);
  assert.deepEqual(first.body, {
    organization_id: "default",
    name: "enterprise-policy",
    version: "v1",
    yaml: "rules: []\n",
    active: true,
    updated_by: "portal-api",
    updated_at: "2026-11-20T20:30:00.000Z",
  });

  app.advance(60_000);
  const second = { yaml: "a: 1", version: "v2", name: "n", description: "d", updated_by: "ada" };
  const { body: v2 } = await app.post("/api/v1/policies", second);
  assert.deepEqual(v2, {
    organization_id: "default",
    ...second,
    active: true,
    updated_at: "2026-11-20T20:31:00.000Z",
  });
  assert.equal((await app.get(`${POLICIES}/v1`)).body.active, false);
  const v1 = { ...first.body, active: false };
  const list = (await app.get(POLICIES)).body;
  assert.deepEqual([list.active, list.policies], ["v2", [v2, v1]]);

  const repeated = await app.post(POLICIES, { yaml: "other: 1", version: "v1" });
  assert.equal(repeated.status, 409);
  assert.match(repeated.body.error, /"v1"/);
  assert.deepEqual((await app.get(POLICIES)).body, list);

  app.advance(60_000);
  const back = await app.post(`${POLICIES}/v1/activate`, {});
  assert.equal(back.status, 200);
  assert.equal(back.body.active, true);
  assert.equal(back.body.yaml, first.body.yaml);
  assert.equal(back.body.updated_at, first.body.updated_at);
  assert.equal(back.body.activated_at, "2026-11-20T20:32:00.000Z");
  assert.equal(back.body.activated_by, "portal-api");
  assert.equal((await app.get(`${POLICIES}?active=true`)).body.version, "v1");
  assert.equal((await app.get(`${POLICIES}/v2`)).body.active, false);
  assert.equal((await app.post(`${POLICIES}/v9/activate`, {})).status, 404);
  assert.equal((await app.get(POLICIES)).body.active, "v1");

  await app.restart();
  assert.deepEqual((await app.get(`${POLICIES}/v1`)).body, back.body);
  assert.equal((await app.get(`${POLICIES}?active=true`)).body.version, "v1");
  assert.equal((await app.get(`${POLICIES}/v2`)).body.yaml, "a: 1");
});

test("a version without a name is named after the time, and is unique in its second", async (t) => {
  const app = await start(t);
  const versions = [];
  for (let i = 0; i < 3; i++) {
    versions.push((await app.post(POLICIES, { yaml: `n: ${i}` })).body.version);
  }
  assert.equal(versions[0], "20261120T203000Z");
  assert.equal(new Set(versions).size, 3);
  for (const version of versions) {
    assert.match(version, /^20261120T203000Z/);
    assert.equal((await app.get(`${POLICIES}/${version}`)).status, 200);
  }
  assert.equal((await app.post(POLICIES, { yaml: "n: 3", version: "" })).status, 201);
  assert.equal((await app.post(POLICIES, { yaml: "n: 4", version: null })).status, 201);
});

test("of many concurrent publications of one version, one succeeds", async (t) => {
  const app = await start(t);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => app.post(POLICIES, { yaml: `n: ${n}`, version: "v" })),
  );
  const created = answers.filter(({ status }) => status === 201);
  assert.equal(created.length, 1);
  assert.equal(answers.filter(({ status }) => status === 409).length, 9);
  assert.equal((await app.get(`${POLICIES}/v`)).body.yaml, created[0]?.body.yaml);
});

test("an empty base is a condition, and a condition that is null is refused", async (t) => {
  const app = await start(t);
  const publish = (more: object) => app.post(POLICIES, { yaml: "a: 1", ...more });
  assert.equal((await publish({ version: "v1", base_version: "" })).status, 201);
  const second = await publish({ version: "v2", base_version: "" });
  assert.equal(second.status, 409);
  assert.equal(second.body.error, 'base_version: the active version is "v1", expected none');
  for (const [more, error] of [
    [{ base_version: null }, "base_version: expected a string"],
    [{ activate: null }, "activate: expected true or false"],
  ] as const) {
    const refused = await publish(more);
    assert.deepEqual([refused.status, refused.body.error], [400, error]);
  }
  assert.equal((await app.get(POLICIES)).body.policies.length, 1);
});

test("of many versions published concurrently, exactly one is active", async (t) => {
  const app = await start(t);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => app.post(POLICIES, { yaml: `n: ${n}`, version: `v${n}` })),
  );
  for (const { status } of answers) assert.equal(status, 201);
  const { active, policies } = (await app.get(POLICIES)).body;
  const flagged = policies.filter((policy: { active: boolean }) => policy.active);
  assert.deepEqual(
    flagged.map(({ version }: { version: string }) => version),
    [active],
  );
  assert.equal(policies.length, 10);
});

// The other tests read one service with two versions, "v2" active.
const app = await start({ after }, ADMIN_SETTINGS);
await app.post(POLICIES, { yaml: "rules: []\n", version: "v1" });
await app.post(POLICIES, { yaml: "rules: [2]\n", version: "v2" });

const SELECTIONS: readonly (readonly [string, Record<string, string>, "one" | "list"])[] = [
  ["", {}, "list"],
  ["?active=true", {}, "one"],
  ["?active=true&active=false", {}, "one"],
  ["?active=false&active=true", {}, "list"],
  ["?active=", {}, "list"],
  ["?active", {}, "list"],
  ["?active=TRUE", {}, "list"],
  ["?active=1", {}, "list"],
  ["?Active=true", {}, "list"],
  ["?active=%74rue", {}, "one"],
  ["", { "X-Runtime-Client": "runtime/2.0" }, "one"],
  ["", { "x-runtime-client": "" }, "one"],
  ["?active=false", { "X-Runtime-Client": "false" }, "one"],
];

for (const [query, headers, wanted] of SELECTIONS) {
  test(`GET /policies${query} with ${JSON.stringify(headers)} is ${wanted}`, async () => {
    for (const prefix of ["/api/public", "/api/v1"]) {
      const { status, body } = await app.get(`${prefix}/policies${query}`, headers);
      assert.equal(status, 200);
      assert.equal("policies" in body ? "list" : "one", wanted);
      assert.equal(wanted === "one" ? body.version : body.active, "v2");
    }
  });
}

for (const path of [POLICIES, `${POLICIES}?active=true`, `${POLICIES}/v1`]) {
  test(`${path} answers 304 to its own tag`, async () => {
    const { status, headers, text } = await app.get(path);
    const tag = headers.get("etag") ?? "";
    assert.equal(status, 200);
    assert.match(tag, /^"[\x21\x23-\x7e]+"$/);
    assert.equal(headers.get("cache-control"), "private, no-cache");
    const vary = (headers.get("vary") ?? "").toLowerCase().split(/, */).sort();
    assert.deepEqual(vary, [
      "authorization",
      "origin",
      "x-api-key",
      "x-runtime-client",
      "x-runtime-name",
    ]);
    for (const given of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
      const same = await app.get(path, { "If-None-Match": given });
      assert.deepEqual([same.status, same.text], [304, ""], given);
      for (const name of ["etag", "cache-control", "vary"]) {
        assert.equal(same.headers.get(name), headers.get(name), name);
      }
    }
    for (const given of ['"x"', tag.slice(0, -2) + '"', "x"]) {
      assert.equal((await app.get(path, { "If-None-Match": given })).text, text, given);
    }
    const head = await app.request("HEAD", path);
    assert.deepEqual([head.status, head.headers.get("etag")], [200, tag]);
    assert.equal(head.headers.get("content-length"), String(Buffer.byteLength(text)));
  });
}

test("the tag covers the whole representation: it changes with the active flag", async (t) => {
  const own = await start(t);
  await own.post(POLICIES, { yaml: "a: 1", version: "v1" });
  const one = (await own.get(`${POLICIES}/v1`)).headers.get("etag") ?? "";
  const list = (await own.get(POLICIES)).headers.get("etag") ?? "";
  await own.post(POLICIES, { yaml: "a: 2", version: "v2" });
  assert.equal((await own.get(`${POLICIES}/v1`, { "If-None-Match": one })).status, 200);
  assert.equal((await own.get(POLICIES, { "If-None-Match": list })).status, 200);
});

test("the author of a publication defaults to the signed-in user", async (t) => {
  const own = await start(t, ADMIN_SETTINGS);
  const admin = await own.asUser(ADMIN);
  const publish = async (extra: object, headers = admin): Promise<string> =>
    (await own.post("/api/v1/policies", { yaml: "a: 1", ...extra }, headers)).body.updated_by;
  assert.equal(await publish({}), ADMIN.email);
  assert.equal(await publish({ updated_by: "" }), ADMIN.email);
  assert.equal(await publish({ updated_by: null }), ADMIN.email);
  assert.equal(await publish({ updated_by: "pipeline" }), "pipeline");
  assert.equal(await publish({}, {}), "portal-api");
  await own.post(POLICIES, { yaml: "a: 1", version: "x" }, admin);
  assert.equal((await own.get(`${POLICIES}/x`)).body.updated_by, "portal-api");
  await publish({});
  const { body } = await own.post("/api/v1/policies/x/activate", {}, admin);
  assert.equal(body.activated_by, ADMIN.email);
});

const NAMES = [
  "a/b",
  "a\\b",
  "../../etc/passwd",
  "...",
  "-",
  " spaced name ",
  "%2e%2e",
  "100%",
  "🚂🚃",
  "ünïcödé",
  "Case",
  "case",
  "CASE",
  "validate",
  "simulate",
  "activate",
  "active?x=1#y",
  "a&b=c;d",
  "con",
  "x".repeat(128),
  "y".repeat(127) + "/",
  "🚂".repeat(128),
];

for (const version of NAMES) {
  test(`the version ${JSON.stringify(version.slice(0, 20))} is stored, found and made active`, async () => {
    const yaml = `name: ${JSON.stringify(version)}`;
    const published = await app.post(POLICIES, { yaml, version });
    assert.equal(published.status, 201, published.text);
    assert.equal(published.body.version, version);
    const path = `${POLICIES}/${encodeURIComponent(version)}`;
    assert.equal((await app.get(path)).body.yaml, yaml);
    assert.equal((await app.post(POLICIES, { yaml, version })).status, 409);
    await app.post(`${POLICIES}/v2/activate`, {});
    assert.equal((await app.post(`${path}/activate`, {})).body.version, version);
    await app.post(`${POLICIES}/v2/activate`, {});
  });
}

for (const version of [
  ".",
  "..",
  "x".repeat(129),
  "🚂".repeat(129),
  "a\nb",
  "a\u0000b",
  "a\u007fb",
  "a\u0085b",
  "tab\t",
  7,
  {},
  ["v"],
  true,
]) {
  const name = JSON.stringify(version);
  test(`the version ${name.slice(0, 20)} (${name.length}) is refused`, async () => {
    const before = (await app.get(POLICIES)).text;
    const { status, body } = await app.post(POLICIES, { yaml: "a: 1", version });
    assert.equal(status, 400);
    assert.match(body.error, /version/i);
    assert.equal((await app.get(POLICIES)).text, before);
  });
}

for (const [path, wanted] of [
  ["/%2e%2e", 404],
  ["/%2E", 404],
  ["/..", 404],
  ["/none", 404],
  ["/%zz", 400],
  ["/%", 400],
  ["/%ff", 400],
  ["/%c0%af", 400],
  ["/%00", 404],
  ["/v2/", 404],
  ["//v2", 404],
  ["/v2/activate", 405],
  [`/${"x".repeat(5000)}`, 404],
] as const) {
  test(`GET /policies${path.slice(0, 20)} is ${wanted}`, async () => {
    assert.equal((await app.get(POLICIES + path)).status, wanted);
  });
}

test("a restart changes no byte: the copies of runtimes stay current", async () => {
  const paths = [POLICIES, `${POLICIES}?active=true`, `${POLICIES}/Case`];
  const tags = [];
  for (const path of paths) tags.push((await app.get(path)).headers.get("etag") ?? "");
  await app.restart();
  for (const [i, path] of paths.entries()) {
    assert.equal((await app.get(path, { "If-None-Match": tags[i] ?? "" })).status, 304, path);
  }
});
