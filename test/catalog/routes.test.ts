import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { start } from "../support/start.ts";

const capability = {
  id: "git/list_tags",
  name: "List tags",
  provider: "git",
  description: "Lists the tags.",
  path: "p",
};

async function startWithFile(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-catalog-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "own.json");
  const catalog = {
    generated_at: "2026-11-20T00:00:00Z",
    providers: [
      { id: "git", name: "Git", auth: "none", scope: "repository", operations: ["list"] },
      { id: "aws", name: "Amazon", auth: "IAM", scope: "account", operations: [] },
    ],
    capabilities: [{ ...capability, command: "git tag" }],
  };
  await writeFile(path, JSON.stringify(catalog));
  return { app: await start(t, { catalogSource: path }), source: `file:${path}` };
}

for (const prefix of ["/api/public", "/api/v1"]) {
  test(`${prefix}/capabilities lists and filters the catalog`, async (t) => {
    const { app, source } = await startWithFile(t);
    const list = { catalog: source, generated_at: "2026-11-20T00:00:00Z" };
    const all = { ...list, capabilities: [capability], total: 1 };
    assert.deepEqual((await app.get(`${prefix}/capabilities`)).body, all);
    assert.deepEqual((await app.get(`${prefix}/capabilities?provider=git&q=TAGS`)).body, all);
    assert.deepEqual((await app.get(`${prefix}/capabilities?provider=&q=`)).body, all);
    for (const query of ["provider=aws", "q=pods", "provider=git&q=x"]) {
      const answer = await app.get(`${prefix}/capabilities?${query}`);
      assert.deepEqual(answer.body, { ...list, capabilities: [], total: 0 }, query);
    }
  });
}

test("the catalog's documents carry the envelope", async (t) => {
  const { app, source } = await startWithFile(t);
  const envelope = {
    contract_version: "0",
    counts: { capabilities: 1, providers: 2 },
    generated_at: "2026-11-20T00:00:00Z",
    source,
    runtime: { known: false, note: "The catalog does not say where it comes from." },
  };
  const none = { ...envelope, capabilities: [], total: 0 };
  assert.deepEqual((await app.get("/metadata/catalog/capabilities?provider=aws")).body, none);
  assert.deepEqual((await app.get("/metadata/catalog/capabilities")).body, {
    ...envelope,
    capabilities: [capability],
    total: 1,
  });
  const aws = { id: "aws", name: "Amazon", auth: "IAM" };
  const git = { id: "git", name: "Git", auth: "none" };
  assert.deepEqual((await app.get("/metadata/catalog/providers")).body, {
    ...envelope,
    providers: [
      { ...aws, capabilities: 0, operations: 0, operation_names: [] },
      { ...git, capabilities: 1, operations: 1, operation_names: ["list"] },
    ],
    total: 2,
  });
});

test("the catalog's contract links its documents and the organization's view", async (t) => {
  const app = await start(t);
  const { body } = await app.get("/metadata/catalog");
  assert.equal(body.source, "embed");
  const links = [...Object.values(body.contracts as Record<string, string>), body.documentation];
  const { why, ...views } = body.tenant_view as Record<string, string>;
  for (const url of [...links, ...Object.values(views)]) {
    assert.ok(url.startsWith(app.url), url);
    assert.equal((await app.get(url.slice(app.url.length))).status, 200, url);
  }
  assert.ok(why);
  assert.ok(views.public_capabilities && views.public_providers);
});

test("a public surface that is off is not linked", async (t) => {
  const app = await start(t, { publicSurface: "off" });
  const { body } = await app.get("/metadata/catalog");
  assert.deepEqual(Object.keys(body.tenant_view), ["capabilities", "providers", "why"]);
  for (const document of ["", "/apis", "/authentication", "/catalog"]) {
    const text = JSON.stringify((await app.get(`/metadata${document}`)).body);
    assert.ok(!text.includes("/api/public"), `/metadata${document}`);
  }
});

test("a catalog that is missing stops the start", async (t) => {
  await assert.rejects(
    start(t, { catalogSource: "no-such.json" }),
    /"no-such\.json" cannot be read/,
  );
});
