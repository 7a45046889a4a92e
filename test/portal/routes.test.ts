import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ADMIN_SETTINGS, start } from "../support/start.ts";

const WEIGHT = 100 * 1024;
const HTML = { accept: "text/html,*/*;q=0.8" };

const app = await start({ after });

test("a browser gets the overview with its data, its stylesheet and its icon", async () => {
  await app.post("/api/public/audit", { command: "rm <b>all</b>", policy_decision: "DENIED" });
  const home = await app.get("/", HTML);
  assert.match(home.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(home.headers.get("vary") ?? "", /Accept/);
  assert.match(home.text, /rm &lt;b&gt;all&lt;\/b&gt;/);
  for (const [, path = ""] of home.text.matchAll(
    /<link rel="(?:stylesheet|icon)"[^>]* href="([^"]+)"/g,
  )) {
    const file = await app.get(path);
    assert.equal(file.status, 200);
    assert.equal(file.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.match(file.headers.get("content-type") ?? "", /^text\/css|^image\/svg/);
  }
});

test("the front page with all that it is made of weighs less than 100 KiB", async () => {
  const home = await app.get("/", HTML);
  const paths = new Set(
    [...home.text.matchAll(/(?:href|src)="(\/portal\/assets\/[^"]+)"/g)].map(([, path]) => path),
  );
  const files = await Promise.all([...paths].map((path) => app.get(path ?? "")));
  const weight = [home, ...files].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  assert.ok(files.every(({ status }) => status === 200));
  assert.ok(weight < WEIGHT, `${weight} bytes`);
});

test("a file that is not of this build is not found, and nothing beside the files is", async () => {
  const [, prefix = ""] =
    /href="(\/portal\/assets\/\w+\/)style/.exec((await app.get("/", HTML)).text) ?? [];
  for (const path of [
    "/portal/assets/0000000000000000/style/portal.css",
    `${prefix}style/other.css`,
    `${prefix}portal/html.ts`,
    `${prefix}portal/browser/..%2f..%2f..%2fpackage.json`,
  ]) {
    assert.equal((await app.get(path)).status, 404, path);
  }
});

test("every page carries the headers that guard it, also where the reader has it already", async () => {
  const home = await app.get("/", HTML);
  const reference = await app.get("/portal/api");
  const signIn = await app.get("/portal/sign-in");
  const etag = reference.headers.get("etag") ?? "";
  const again = await app.get("/portal/api", { "if-none-match": etag });
  assert.equal(again.status, 304);
  for (const { headers } of [home, reference, signIn, again]) {
    assert.equal(
      headers.get("content-security-policy"),
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
  }
});

test("the reference names this server's address", async () => {
  const reference = await app.get("/portal/api");
  assert.ok(reference.text.includes(`${app.url}/api/public/policies`));
});

test("where credentials are demanded no page carries data, from the next request on", async (t) => {
  let isRequired = false;
  const switched = await start(t, { requireAuth: () => isRequired });
  await switched.post("/api/public/audit", { command: "wagon-7", policy_decision: "DENIED" });
  assert.match((await switched.get("/", HTML)).text, /wagon-7/);
  isRequired = true;
  const shell = (await switched.get("/", HTML)).text;
  assert.doesNotMatch(shell, /wagon-7/);
  assert.match(shell, /data-open="false"/);
  assert.match((await switched.get("/portal/sign-in")).text, /ADMIN_EMAIL/);
  await switched.restart(ADMIN_SETTINGS);
  assert.doesNotMatch((await switched.get("/portal/sign-in")).text, /ADMIN_EMAIL/);
});
