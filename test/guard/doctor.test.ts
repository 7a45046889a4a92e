/** The messages of the guard on a machine with a wrong prefix, without a policy or hooks, or without an accepted key. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";
import { newMachine } from "./guard-process.ts";

test("doctor and sync say why the service refuses, and what to do", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true, publicSurface: "off" });
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: app.url });
  const says = async (what: RegExp): Promise<void> => {
    const { code, out } = await machine.run(["doctor"]);
    assert.deepEqual([code, what.test(out)], [1, true], out);
    const { error } = await machine.run(["sync"]);
    assert.match(error, what);
  };

  await says(/404.*: correct RUNTIME_PORTAL_BASE_URL or RUNTIME_PORTAL_PATH_PREFIX/);
  assert.doesNotMatch((await machine.run(["doctor"])).out, /no policy is active/);
  machine.env["RUNTIME_PORTAL_PATH_PREFIX"] = "/api/v1";
  await says(/401.*: it asks for a key, set SIGNALBOX_API_KEY/);
  machine.env["SIGNALBOX_API_KEY"] = "sbx_mistyped";
  await says(/401.*: SIGNALBOX_API_KEY is unknown, was revoked or has expired/);
  const admin = await app.asUser(ADMIN);
  const key = { name: "machines", scopes: "report" };
  machine.env["SIGNALBOX_API_KEY"] = (await app.post("/api/v1/api-keys", key, admin)).body.api_key;
  await says(/no policy is active.*: publish one/);

  const yaml = "schema: signalbox/policy/v1\ndefault: allow\nrules: []\n";
  assert.equal((await app.post("/api/v1/policies", { version: "v1", yaml }, admin)).status, 201);
  const { code, out } = await machine.run(["sync"]);
  assert.deepEqual([code, out], [0, "policy v1\nheartbeat of machine-1\nsent 0 events\n"]);
  assert.equal((await machine.run(["doctor"])).code, 0);
  await app.close();
  assert.match(
    (await machine.run(["doctor"])).out,
    /cannot be reached: ECONNREFUSED: start it, or set RUNTIME_PORTAL_BASE_URL to its address/,
  );
});

test("doctor finds a key that cannot report; setup says so, and ends well with the hooks written", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const yaml = "schema: signalbox/policy/v1\ndefault: allow\nrules: []\n";
  await app.post("/api/v1/policies", { version: "v1", yaml }, admin);
  const keyOf = async (scopes: string): Promise<string> =>
    (await app.post("/api/v1/api-keys", { name: scopes, scopes }, admin)).body.api_key;
  const machine = await newMachine(t, {
    RUNTIME_PORTAL_BASE_URL: app.url,
    RUNTIME_PORTAL_PATH_PREFIX: "/api/v1",
    SIGNALBOX_API_KEY: await keyOf("policy"),
  });
  const setup = await machine.run(["setup", "claude-code", "--user"]);
  const said = /answered 403 to the heartbeat: SIGNALBOX_API_KEY lacks the scope, create a key of/;
  assert.deepEqual([setup.code, said.test(setup.error)], [0, true], setup.error);
  const doctor = await machine.run(["doctor"]);
  assert.deepEqual([doctor.code, said.test(doctor.out)], [1, true], doctor.out);

  machine.env["SIGNALBOX_API_KEY"] = await keyOf("report");
  const well = await machine.run(["doctor"]);
  assert.equal(well.code, 0, well.out);
  assert.match(well.out, /^ok .* answers 200, and takes the heartbeat of machine-1$/m);
});

test("a machine without hooks is no fault, and does not look like a check that passed", async (t) => {
  const app = await start(t);
  const yaml = "schema: signalbox/policy/v1\ndefault: allow\nrules: []\n";
  await app.post("/api/public/policies", { version: "v1", yaml });
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: app.url });
  await machine.run(["sync"]);
  const { code, out } = await machine.run(["doctor"]);
  assert.equal(code, 0);
  assert.match(
    out,
    /^note no agent has hooks of the guard here, so it decides only for guard exec/m,
  );
});

test("messages do not show the password in the address of the service", async (t) => {
  const machine = await newMachine(t, {
    RUNTIME_PORTAL_BASE_URL: "http://ada:pass-word@127.0.0.1:1",
  });
  for (const command of ["doctor", "sync"]) {
    const { out, error } = await machine.run([command]);
    assert.match(out + error, /http:\/\/127\.0\.0\.1:1\/api\/public cannot be reached/);
    assert.doesNotMatch(out + error, /ada|pass-word/);
  }
});
