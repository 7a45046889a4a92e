import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../support/start.ts";

test("a browser gets the front page, its stylesheet and the reference", async (t) => {
  const app = await start(t);
  const home = await app.get("/", { accept: "text/html,*/*;q=0.8" });
  assert.match(home.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(home.headers.get("vary") ?? "", /Accept/);
  const [, stylesheet = ""] = /<link rel="stylesheet" href="([^"]+)"/.exec(home.text) ?? [];
  const style = await app.get(stylesheet);
  assert.equal(style.headers.get("cache-control"), "public, max-age=31536000, immutable");
  assert.match(style.headers.get("content-type") ?? "", /^text\/css/);
  const reference = await app.get("/portal/api");
  assert.ok(reference.text.includes(`${app.url}/api/public/policies`));
});

test("every page carries the headers that guard it, also where the reader has it already", async (t) => {
  const app = await start(t);
  const home = await app.get("/", { accept: "text/html" });
  const reference = await app.get("/portal/api");
  const etag = reference.headers.get("etag") ?? "";
  const again = await app.get("/portal/api", { "if-none-match": etag });
  assert.equal(again.status, 304);
  for (const { headers } of [home, reference, again]) {
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
  }
});
