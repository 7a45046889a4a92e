import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ADMIN_SETTINGS, start } from "../../support/start.ts";

/** In KiB, uncompressed, of an empty service. The API reference is a long text. */
const MOST = 85;
const WEIGHTS = [
  ["/", MOST],
  ["/portal/audit", 115],
  ["/portal/policies", 102],
  ["/portal/rollouts", 90],
  ["/portal/policies/new", 115],
  ["/portal/fleet", MOST],
  ["/portal/agents", MOST],
  ["/portal/runtime?name=x", MOST],
  ["/portal/executor?name=x", MOST],
  ["/portal/rule?id=x", 90],
  ["/portal/catalog", 95],
  ["/portal/access", MOST],
  ["/portal/access/users", MOST],
  ["/portal/access/organizations", MOST],
  ["/portal/access/settings", MOST],
  ["/portal/access/activity", MOST],
  ["/portal/access/account", MOST],
  ["/portal/api", 320],
  ["/portal/sign-in", MOST],
] as const;
const HTML = { accept: "text/html,*/*;q=0.8" };

const app = await start({ after });

test("a browser gets the overview with its data, its stylesheet and its icon", async () => {
  await app.post("/api/public/audit", { command: "rm <b>all</b>", policy_decision: "DENIED" });
  const home = await app.get("/", HTML);
  assert.match(home.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(home.headers.get("vary") ?? "", /Accept/);
  assert.match(home.text, /rm &lt;b&gt;all&lt;\/b&gt;/);
  const links = home.text.matchAll(/<link rel="(stylesheet|icon)"[^>]* href="([^"]+)"/g);
  const files = Array.from(links, ([, rel, path = ""]) => ({ rel, path }));
  assert.deepEqual(files.map(({ rel }) => rel).sort(), ["icon", "stylesheet"]);
  for (const { path } of files) {
    const file = await app.get(path);
    assert.equal(file.status, 200);
    assert.equal(file.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.match(file.headers.get("content-type") ?? "", /^text\/css|^image\/svg/);
  }
});

for (const [path, most] of WEIGHTS) {
  test(`${path} and the four files that it loads weigh less than ${most} KiB`, async () => {
    const page = await app.get(path, HTML);
    const paths = [...page.text.matchAll(/(?:href|src)="(\/portal\/assets\/[^"]+)"/g)];
    assert.equal(paths.length, 4); // the early script, the stylesheet, the icon, its module
    const files = await Promise.all(paths.map(([, file]) => app.get(file ?? "")));
    assert.deepEqual(new Set([page, ...files].map(({ status }) => status)), new Set([200]));
    const weight = [page, ...files].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    assert.ok(weight < most * 1024, `${weight} bytes`);
  });
}

test("the early script precedes the stylesheet, which would delay it", async () => {
  const { text } = await app.get("/", HTML);
  const order = [...text.matchAll(/(?:href|src)="[^"]+\/(early\.js|portal\.css|overview\.js)"/g)];
  assert.deepEqual(
    order.map(([, file]) => file),
    ["early.js", "portal.css", "overview.js"],
  );
});

test("unknown files and other paths below the assets are 404", async () => {
  const [, prefix = ""] =
    /href="(\/portal\/assets\/\w+\/)portal\.css/.exec((await app.get("/", HTML)).text) ?? [];
  for (const path of [
    "/portal/assets/0000000000000000/portal.css",
    `${prefix}other.css`,
    `${prefix}frame.js`,
    `${prefix}entries/audit.ts`,
    `${prefix}..%2f..%2f..%2fpackage.json`,
  ]) {
    assert.equal((await app.get(path)).status, 404, path);
  }
});

test("an unknown path is a page for browsers, and JSON for programs and below /api", async () => {
  for (const path of ["/nothing", "/portal/nothing?q=1", "/portal/audit/", "/portal/%3Cb%3E"]) {
    // The client of the tests expects JSON at unknown paths.
    const response = await fetch(app.url + path, { headers: HTML });
    const { status, headers } = response;
    const text = await response.text();
    assert.equal(status, 404, path);
    assert.match(headers.get("content-type") ?? "", /^text\/html/);
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.match(text, /Page not found.*<nav aria-label="Portal">|<nav.*Page not found/s);
    assert.ok(!text.includes("<b>"));
  }
  for (const [path, accept] of [
    ["/api/v1/nothing", HTML.accept],
    ["/portal/nothing", "*/*"],
  ] as const) {
    const { status, body } = await app.get(path, { accept });
    assert.deepEqual([status, body], [404, { error: "There is nothing at this path" }]);
  }
});

test("every page has the security headers, also with a 304", async () => {
  const home = await app.get("/", HTML);
  const reference = await app.get("/portal/api");
  const signIn = await app.get("/portal/sign-in");
  const etag = reference.headers.get("etag") ?? "";
  const again = await app.get("/portal/api", { "if-none-match": etag });
  assert.equal(again.status, 304);
  for (const { headers } of [home, reference, signIn, again]) {
    assert.equal(
      headers.get("content-security-policy"),
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types signalbox",
    );
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
  }
});

test("the reference names this server's address", async () => {
  const reference = await app.get("/portal/api");
  assert.ok(reference.text.includes(`${app.url}/api/public/policies`));
});

test("a version that was only stored is shown as not active, and can be activated", async (t) => {
  const own = await start(t);
  await own.post("/api/public/policies", { version: "v1", yaml: "a: 1", activate: false });
  const { text } = await own.get("/portal/policies", { accept: "text/html" });
  assert.match(text, /<h2[^>]*>v1<\/h2>\s*<span[^>]*>Not active</);
  assert.match(text, /data-activate="v1"/);
  assert.doesNotMatch(text, />Active</);
});

test("no page contains data from the first request on after credentials become required", async (t) => {
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
