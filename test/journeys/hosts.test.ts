/** The possible attacks of a page whose name resolves to this machine, or which is served by a preview host. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Connection } from "../http/connection.ts";
import { start, type App, type Settings } from "../support/start.ts";

async function ask(t: TestContext, app: App, target: string, ...lines: readonly string[]) {
  const connection = new Connection(Number(new URL(app.url).port));
  t.after(() => connection.socket.destroy());
  connection.send(`GET ${target} HTTP/1.1`, ...lines, "", "");
  const { status, body } = await connection.next();
  return { status, body };
}

test("a service on loopback refuses other names, and says how to add one", async (t) => {
  const app = await start(t);
  for (const target of ["/", "/health", "/api/v1/users", "/nowhere"]) {
    const { status, body } = await ask(t, app, target, "Host: rebound.example:8080");
    assert.equal(status, 421);
    assert.deepEqual(JSON.parse(body), {
      error:
        'Host: "rebound.example:8080" is not a name that this server answers to; if it should be, add it to ALLOWED_HOSTS',
    });
  }
  assert.equal((await ask(t, app, "/health", "Host: localhost")).status, 200);
});

for (const host of ["127.1", "2130706433", "0x7f.1"]) {
  test(`HOST=${host} is loopback, since it is bound to it`, async (t) => {
    const app = await start(t, { host });
    assert.equal((await ask(t, app, "/health", "Host: rebound.example")).status, 421);
    assert.equal((await ask(t, app, "/health", "Host: localhost")).status, 200);
  });
}

test("the authority of a target counts in place of the header", async (t) => {
  const app = await start(t, { allowedHosts: ["box.example"] });
  const statusOf = async (target: string, host: string) =>
    (await ask(t, app, target, `Host: ${host}`)).status;
  assert.equal(await statusOf("http://rebound.example/health", "localhost"), 421);
  assert.equal(await statusOf("http://box.example:99/health", "rebound.example"), 200);
  assert.equal(await statusOf("/health", "box.example"), 200);
});

test("HTTP/1.0 without a Host, which no browser sends, is answered; with one it is checked", async (t) => {
  const app = await start(t);
  for (const [lines, status] of [
    [[], 200],
    [["Host: rebound.example"], 421],
  ] as const) {
    const connection = new Connection(Number(new URL(app.url).port));
    connection.send("GET /health HTTP/1.0", ...lines, "", "");
    assert.equal((await connection.next()).status, status);
  }
});

test("BASE_URL names a host that is answered", async (t) => {
  const app = await start(t, { baseUrl: "https://signalbox.example.com/x" });
  assert.equal((await ask(t, app, "/health", "Host: signalbox.example.com")).status, 200);
});

test("pages of preview hosts may read answers unless switched off, and the start warns of it", async (t) => {
  const origin = "https://evil.pages.dev";
  const allowOf = async (app: App) =>
    (await app.get("/api/v1/fleet", { origin })).headers.get("access-control-allow-origin");
  const log: string[] = [];
  const writeLog = (line: string) => log.push(line);
  const open = await start(t, { logLevel: "warn", writeLog });
  assert.equal(await allowOf(open), origin);
  assert.match(log.join(""), /corsPagesDev=on/);
  log.length = 0;
  const closed = await start(t, { logLevel: "warn", writeLog, corsPagesDev: "off" });
  assert.equal(await allowOf(closed), null);
  await start(t, { logLevel: "warn", writeLog, requireAuth: true, publicSurface: "off" });
  assert.doesNotMatch(log.join(""), /corsPagesDev/);
});

test("a start with everything open to the network, or to every page, gives a warning", async (t) => {
  const warningsOf = async (settings: Settings) => {
    const log: string[] = [];
    const writeLog = (line: string) => log.push(line);
    await start(t, { logLevel: "warn", writeLog, corsPagesDev: "off", ...settings });
    return log.join("");
  };
  for (const host of ["0.0.0.0", "0"]) {
    const warnings = await warningsOf({ host });
    assert.match(warnings, /requireAuth=false with host=.* can read and change everything/);
  }
  assert.match(await warningsOf({ corsOrigins: ["*"] }), /requireAuth=false with corsOrigins=\*/);
  assert.doesNotMatch(
    await warningsOf({ host: "127.1", corsOrigins: ["https://a.example"] }),
    /requireAuth/,
  );
  const isProtected = { requireAuth: true, publicSurface: "off", roles: "enforced" } as const;
  assert.doesNotMatch(
    await warningsOf({ ...isProtected, host: "0.0.0.0", corsOrigins: ["*"] }),
    /requireAuth/,
  );
});
