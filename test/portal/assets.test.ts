import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { TextReply } from "../../src/http/reply.ts";
import { PortalAssets, readPortalAssets } from "../../src/portal/assets.ts";

const MODULES = new Map([
  ["style/portal.css", "body { margin: 0 }\n".repeat(100)],
  ["style/icon.svg", "<svg/>"],
  ["portal/browser/theme.js", "{}"],
  ["portal/browser/one.js", 'import { a } from "../shown.js";\nimport "./two.js";\n'],
  ["portal/browser/two.js", 'export { a } from "../shown.js"; import("./one.js");\n'],
  ["portal/shown.js", "export const a = 1;\n"],
]);
const assets = new PortalAssets(MODULES);

function sent(headers: Readonly<Record<string, string>>): TextReply {
  const reply = assets.send(assets.stylesheet, headers);
  assert.ok(reply instanceof TextReply);
  return reply;
}

function header({ headers }: TextReply, name: string): string | undefined {
  const at = headers.indexOf(name);
  return at === -1 ? undefined : headers[at + 1];
}

test("each coding holds the same bytes under an entity tag of its own", () => {
  const [plain, gzip, br] = [
    sent({}),
    sent({ "accept-encoding": "gzip" }),
    sent({ "accept-encoding": "br" }),
  ];
  const content = MODULES.get("style/portal.css");
  assert.equal(String(plain.body), content);
  assert.equal(gunzipSync(gzip.body as Buffer).toString(), content);
  assert.equal(brotliDecompressSync(br.body as Buffer).toString(), content);
  assert.deepEqual(
    [plain, gzip, br].map((one) => header(one, "Content-Encoding")),
    [undefined, "gzip", "br"],
  );
  assert.equal(new Set([plain, gzip, br].map((one) => header(one, "ETag"))).size, 3);
  for (const one of [plain, gzip, br]) {
    assert.equal(header(one, "Vary"), "Origin, Accept-Encoding");
    assert.equal(header(one, "Cache-Control"), "public, max-age=31536000, immutable");
  }
  assert.equal(sent({ "accept-encoding": "br" }).body, br.body);
});

test("a reader who has a file in that coding is told so", () => {
  const etag = header(sent({ "accept-encoding": "gzip" }), "ETag") ?? "";
  assert.equal(sent({ "accept-encoding": "gzip", "if-none-match": etag }).status, 304);
  assert.equal(sent({ "accept-encoding": "br", "if-none-match": etag }).status, 200);
});

test("a module is named with everything that it imports, once, and itself first", () => {
  const names = assets.modules("one").map((path) => path.split("/").slice(4).join("/"));
  assert.deepEqual(names, ["portal/browser/one.js", "portal/shown.js", "portal/browser/two.js"]);
  assert.deepEqual(assets.modules("three"), []);
});

test("a change of any file moves all of them", () => {
  const changed = new PortalAssets(
    new Map([...MODULES, ["portal/shown.js", "export const a = 2;\n"]]),
  );
  assert.notEqual(changed.stylesheet, assets.stylesheet);
  assert.equal(changed.send(assets.stylesheet, {}), undefined);
  assert.equal(new PortalAssets(MODULES).stylesheet, assets.stylesheet);
});

test("without a build there are styles and an icon, and no module", () => {
  const unbuilt = new PortalAssets(new Map([...MODULES].slice(0, 2)));
  assert.equal(unbuilt.hasModules, false);
  assert.equal(assets.hasModules, true);
  assert.deepEqual(unbuilt.modules("one"), []);
});

test("the stylesheet begins with the order of its layers", async () => {
  const read = await readPortalAssets();
  const reply = read.send(read.stylesheet, {});
  assert.ok(reply instanceof TextReply);
  assert.match(String(reply.body), /^@layer base, frame, components, pages;/);
});
