import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { start, type App, type Scope } from "../support/start.ts";

const app = await start({ after });
const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** A catalog of two providers and three capabilities. */
const SMALL = {
  contract_version: "2.3",
  generated_at: "2026-01-02T03:04:05Z",
  runtime: { known: true, repo: "acme/runtime", ref: "main", commit: COMMIT },
  providers: [
    { id: "forge", name: "The Forge", auth: "token", scope: "team", operations: ["melt", "cast"] },
    { id: "mill", name: "Mill", auth: "none", scope: "host", operations: ["grind"] },
  ],
  capabilities: [
    capability("forge/melt_iron", "Melt iron", "Makes iron liquid."),
    capability("forge/cast_bell", "Cast bell", "Pours a bell of BRONZE."),
    capability("mill/grind_corn", "Grind corn", "Makes flour."),
  ],
};

function capability(id: string, name: string, description: string): object {
  const provider = id.split("/")[0];
  return { id, name, provider, description, path: `capabilities/${id}.yaml`, command: "x" };
}

async function folder(t: Scope): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "signalbox-catalog-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

const file = join(await folder({ after }), "catalog.json");
await writeFile(file, JSON.stringify(SMALL));
const small = await start({ after }, { catalogSource: file });

test("the shipped catalog is large, describes itself, and claims no commit", async () => {
  const { body } = await app.get("/metadata/catalog");
  assert.ok(body.counts.providers >= 25 && body.counts.capabilities >= 200);
  assert.equal(body.source, "embed");
  assert.equal(body.runtime.known, false);
  assert.notEqual(body.runtime.note ?? "", "");
  assert.ok(!("commit" in body.runtime) && !("short_commit" in body.runtime));
  for (const url of [...Object.values(body.contracts), body.documentation] as string[]) {
    assert.equal((await app.get(new URL(url).pathname)).status, 200, url);
  }
  const { why: _, ...views } = body.tenant_view as Readonly<Record<string, string>>;
  assert.ok(Object.keys(views).length > 0);
  for (const url of Object.values(views)) {
    assert.equal((await app.get(new URL(url).pathname)).status, 200, url);
  }
});

test("every capability belongs to a provider, and counts agree everywhere", async () => {
  const { capabilities, total, catalog } = (await app.get("/api/public/capabilities")).body;
  const { providers, counts } = (await app.get("/metadata/catalog/providers")).body;
  assert.equal(catalog, "embed");
  assert.equal(capabilities.length, total);
  assert.equal(total, counts.capabilities);
  assert.equal(providers.length, counts.providers);
  const ids = new Set(providers.map(({ id }: { id: string }) => id));
  for (const { id, provider, name, description } of capabilities) {
    assert.match(id, /^[a-z][a-z0-9-]*\/[a-z][a-z0-9_]*$/);
    assert.equal(id.split("/")[0], provider);
    assert.ok(ids.has(provider) && name !== "" && description !== "");
  }
  assert.equal(new Set(capabilities.map(({ id }: { id: string }) => id)).size, total);
  for (const row of providers) {
    const own = capabilities.filter(({ provider }: { provider: string }) => provider === row.id);
    assert.equal(row.capabilities, own.length);
    assert.equal(row.operations, row.operation_names.length);
    assert.ok(!("status" in row) && !("organization_id" in row));
  }
  const dashboard = (await app.get("/api/public/dashboard")).body;
  assert.deepEqual([dashboard.capabilities, dashboard.providers], [total, providers.length]);
});

const ENVELOPE = {
  contract_version: "2.3",
  counts: { capabilities: 3, providers: 2 },
  generated_at: "2026-01-02T03:04:05Z",
  source: `file:${file}`,
};

for (const path of ["", "/capabilities", "/providers"]) {
  test(`/metadata/catalog${path} carries the envelope`, async () => {
    const { body } = await small.get(`/metadata/catalog${path}`);
    const { runtime } = body;
    for (const [name, value] of Object.entries(ENVELOPE)) assert.deepEqual(body[name], value);
    assert.deepEqual([runtime.known, runtime.commit], [true, COMMIT]);
    assert.equal(runtime.short_commit ?? COMMIT.slice(0, 7), COMMIT.slice(0, 7));
    assert.ok(!("note" in runtime));
  });
}

test("catalog providers are counted from the capabilities", async () => {
  const { providers, total } = (await small.get("/metadata/catalog/providers")).body;
  assert.equal(total, 2);
  assert.deepEqual(providers[0], {
    id: "forge",
    name: "The Forge",
    auth: "token",
    capabilities: 2,
    operations: 2,
    operation_names: ["cast", "melt"],
  });
  const row = (await small.get("/api/v1/providers")).body;
  assert.deepEqual([row.catalog, row.generated_at], [`file:${file}`, "2026-01-02T03:04:05Z"]);
  assert.deepEqual(row.providers[0], {
    id: "forge",
    name: "The Forge",
    auth: "token",
    scope: "team",
    capabilities: 2,
    operations: 2,
    status: "offline",
  });
});

const FILTERS: readonly (readonly [string, readonly string[]])[] = [
  ["", ["forge/cast_bell", "forge/melt_iron", "mill/grind_corn"]],
  ["?provider=forge", ["forge/cast_bell", "forge/melt_iron"]],
  ["?provider=FORGE", []],
  ["?provider=for", []],
  ["?provider=none", []],
  ["?q=bronze", ["forge/cast_bell"]],
  ["?q=MELT%20I", ["forge/melt_iron"]],
  ["?q=grind_", ["mill/grind_corn"]],
  ["?q=mill", ["mill/grind_corn"]],
  ["?q=makes&provider=mill", ["mill/grind_corn"]],
  ["?q=capabilities", []],
  ["?q=&provider=", ["forge/cast_bell", "forge/melt_iron", "mill/grind_corn"]],
];

for (const [query, wanted] of FILTERS) {
  test(`capabilities${query} are ${wanted.length}`, async () => {
    for (const path of ["/api/public", "/api/v1", "/metadata/catalog"]) {
      const { status, body } = await small.get(`${path}/capabilities${query}`);
      assert.equal(status, 200);
      assert.deepEqual(body.capabilities.map(({ id }: { id: string }) => id).sort(), wanted);
      assert.equal(body.total, wanted.length);
    }
  });
}

test("a catalog from before versions reports 0", async (t) => {
  const path = join(await folder(t), "old.json");
  const { contract_version: _, ...old } = SMALL;
  await writeFile(path, JSON.stringify({ ...old, runtime: undefined }));
  const own = await start(t, { catalogSource: path });
  const { body } = await own.get("/metadata/catalog");
  assert.equal(body.contract_version, "0");
  assert.equal(body.runtime.known, false);
  assert.equal(typeof body.runtime.note, "string");
});

const FAULTS: readonly (readonly [string, string])[] = [
  ["no JSON", "{"],
  ["no object", "[]"],
  ["no providers", JSON.stringify({ ...SMALL, providers: undefined })],
  ["providers that are no list", JSON.stringify({ ...SMALL, providers: {} })],
  ["a capability of no provider", JSON.stringify({ ...SMALL, providers: [] })],
  ["a capability without id", JSON.stringify({ ...SMALL, capabilities: [{ name: "x" }] })],
];

for (const [name, text] of FAULTS) {
  test(`a catalog file with ${name} stops the start and is named`, async (t) => {
    const path = join(await folder(t), "bad.json");
    await writeFile(path, text);
    await assert.rejects(start(t, { catalogSource: path }), /bad\.json/);
  });
}

test("a catalog file that is missing stops the start and is named", async (t) => {
  await assert.rejects(start(t, { catalogSource: "/nowhere/none.json" }), /none\.json/);
});

/** Serves the text of `answer`; an empty text is a failure. */
async function serve(t: TestContext, answer: { text: string }): Promise<string> {
  const server = createServer((request, response) => {
    response.statusCode = answer.text === "" ? 503 : 200;
    response.setHeader("X-Asked", request.url ?? "");
    response.end(answer.text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}/catalog.json`;
}

async function source(own: App): Promise<string> {
  return (await own.get("/api/public/capabilities")).body.catalog;
}

test("a catalog from a URL is stored, and used if the URL fails at a later start", async (t) => {
  const answer = { text: JSON.stringify(SMALL) };
  const place = await serve(t, answer);
  const catalogSource = `http://ada:hunter2@${place}?sig=hunter2`;
  const lines: string[] = [];
  const settings = {
    catalogSource,
    logLevel: "debug",
    writeLog: (line: string) => lines.push(line),
  };
  const own = await start(t, settings as object);
  assert.equal(await source(own), `url:http://${place}?…`);
  answer.text = "";
  await own.restart();
  assert.equal((await own.get("/api/public/capabilities")).body.total, 3);
  assert.equal(await source(own), `url:http://${place}?…`);
  assert.ok(lines.some((line) => line.includes('"warn"') && /catalog/i.test(line)));
  answer.text = "[1]";
  await own.restart();
  assert.equal((await own.get("/api/public/capabilities")).body.total, 3);
  for (const path of ["/metadata", "/metadata/catalog", "/metadata/versions", "/api/v1/settings"]) {
    assert.ok(!(await own.get(path)).text.includes("hunter2"), path);
  }
  assert.ok(!lines.join("").includes("hunter2"));
});

test("a catalog from a URL that fails stops the first start, without its user-info", async (t) => {
  const place = await serve(t, { text: "" });
  await assert.rejects(start(t, { catalogSource: `http://ada:hunter2@${place}` }), (error) => {
    assert.ok(error instanceof Error);
    assert.ok(error.message.includes(place) && !error.message.includes("hunter2"), error.message);
    return true;
  });
});
