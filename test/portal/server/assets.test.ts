import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { TextReply } from "../../../src/http/reply.ts";
import { PortalAssets, readPortalAssets } from "../../../src/portal/server/assets.ts";

const FILES = new Map([
  ["portal.css", "body { margin: 0 }\n".repeat(100)],
  ["icon.svg", "<svg/>"],
  ["early.js", "{}"],
  ["one.js", "export const a = 1;\n"],
]);
const assets = new PortalAssets(FILES);

async function sent(headers: Readonly<Record<string, string>>): Promise<TextReply> {
  const reply = await assets.send(assets.stylesheet(), headers);
  assert.ok(reply instanceof TextReply);
  return reply;
}

function header({ headers }: TextReply, name: string): string | undefined {
  const at = headers.indexOf(name);
  return at === -1 ? undefined : headers[at + 1];
}

test("the compressed form has the same content and an entity tag of its own", async () => {
  const plain = await sent({});
  const gzip = await sent({ "accept-encoding": "gzip" });
  const content = FILES.get("portal.css");
  assert.equal(String(plain.body), content);
  assert.equal(gunzipSync(gzip.body as Buffer).toString(), content);
  assert.deepEqual(
    [plain, gzip].map((one) => header(one, "Content-Encoding")),
    [undefined, "gzip"],
  );
  assert.equal(new Set([plain, gzip].map((one) => header(one, "ETag"))).size, 2);
  for (const one of [plain, gzip]) {
    assert.equal(header(one, "Vary"), "Origin, Accept-Encoding");
    assert.equal(header(one, "Cache-Control"), "public, max-age=31536000, immutable");
  }
});

test("concurrent requests compress a file once, and other requests do not wait", async () => {
  const fresh = new PortalAssets(FILES);
  const ask = (coding: string) => fresh.send(fresh.stylesheet(), { "accept-encoding": coding });
  const [first, second] = [ask("gzip"), ask("gzip")];
  assert.ok(first instanceof Promise);
  assert.ok(ask("identity") instanceof TextReply);
  const bodies = [await first, await second, await ask("gzip")].map((one) =>
    one instanceof TextReply ? one.body : one,
  );
  assert.ok(bodies[0] instanceof Buffer);
  assert.equal(new Set(bodies).size, 1);
});

test("a matching entity tag gives a 304", async () => {
  const etag = header(await sent({ "accept-encoding": "gzip" }), "ETag") ?? "";
  assert.equal((await sent({ "accept-encoding": "gzip", "if-none-match": etag })).status, 304);
  assert.equal((await sent({ "if-none-match": etag })).status, 200);
});

test("a change of any file changes all addresses", () => {
  const changed = new PortalAssets(new Map([...FILES, ["one.js", "export const a = 2;\n"]]));
  assert.notEqual(changed.stylesheet(), assets.stylesheet());
  assert.equal(changed.send(assets.stylesheet(), {}), undefined);
  assert.equal(new PortalAssets(FILES).stylesheet(), assets.stylesheet());
});

test("without a build there is no module", () => {
  const unbuilt = new PortalAssets(new Map([...FILES].slice(0, 2)));
  assert.equal(unbuilt.hasModules, false);
  assert.equal(assets.hasModules, true);
  assert.deepEqual([unbuilt.early, unbuilt.module("one")], [undefined, undefined]);
  assert.match(assets.module("one") ?? "", /^\/portal\/assets\/\w{16}\/one\.js$/);
});

test("each stylesheet begins with the order of its layers", async () => {
  const read = await readPortalAssets();
  for (const module of ["overview", "audit", "policies"]) {
    const reply = await read.send(read.stylesheet(module), {});
    assert.ok(reply instanceof TextReply);
    assert.match(String(reply.body), /^@layer base,\s?frame,\s?components,\s?pages;/);
  }
});

test("every file of the folder is in a stylesheet, and these are minified", async () => {
  const folder = new URL("../../../src/portal/style/", import.meta.url);
  const entries = ["portal.css", "policy-pages.css", "audit-page.css"];
  const names = readdirSync(folder).filter(
    (name) => /\.css$/.test(name) && !entries.includes(name),
  );
  const texts = names.map((name) => readFileSync(new URL(name, folder), "utf8"));
  const entry = entries.map((name) => readFileSync(new URL(name, folder), "utf8")).join("");
  const imported = Array.from(entry.matchAll(/@import "\.\/(.+)";/g), ([, name]) => name);
  assert.deepEqual(new Set(imported), new Set([...names, "portal.css"]));
  const read = await readPortalAssets();
  const reply = await read.send(read.stylesheet("policies"), {});
  assert.ok(reply instanceof TextReply);
  const sent = String(reply.body);
  assert.doesNotMatch(sent, /\/\*|\n./);
  assert.ok(sent.length < 0.8 * texts.join("").length);
});
