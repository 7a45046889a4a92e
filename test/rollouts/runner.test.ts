import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { openApp } from "../../src/app.ts";
import { createPasswords } from "../../src/auth/password.ts";
import { configFromOptions } from "../../src/config.ts";
import { nextTurn } from "../../src/core/timers.ts";
import { openFileEngine } from "../../src/storage/files/engine.ts";
import { Layout } from "../../src/storage/layout.ts";
import { Client, type Answer } from "../support/client.ts";
import { ForgetfulFiles, systemError } from "../support/forgetful-files.ts";
import { ADMIN, ADMIN_SETTINGS, START_TIME } from "../support/start.ts";

const MINUTE = 60_000;
const layout = new Layout("/data");
const ACME = { email: "ada@acme.example.com", password: ADMIN.password };

type Send = (method: string, path: string, body?: object, headers?: object) => Promise<Answer>;

/** A service over a disk, with the organizations `default` and `acme`. */
async function serve(t: TestContext) {
  const files = new ForgetfulFiles();
  const lines: string[] = [];
  let time = Date.parse(START_TIME);
  const now = (): number => time;
  const config = configFromOptions({
    ...{ ...ADMIN_SETTINGS, requireAuth: true, dataDir: layout.root },
    logLevel: "error",
  });
  const app = await openApp(config, now, (line) => void lines.push(line), {
    openEngine: (parts) => openFileEngine(parts, files),
    passwords: createPasswords({ now, cost: 2 ** 8 }),
  });
  const client = new Client();
  t.after(async () => {
    client.close();
    await app.close();
  });
  const asUser = async (credentials: typeof ADMIN | typeof ACME): Promise<Send> => {
    const path = "/api/v1/auth/login";
    const { body } = await client.request(app.url, "POST", path, credentials);
    const own = { authorization: `Bearer ${body.token}` };
    return (method, path, sent, headers) =>
      client.request(app.url, method, `/api/v1${path}`, sent, { ...own, ...headers });
  };
  const admin = await asUser(ADMIN);
  const acme = { name: "Acme", admin_email: ACME.email, admin_password: ACME.password };
  assert.equal((await admin("POST", "/organizations", acme)).status, 201);
  const advance = (ms: number): void => void (time += ms);
  return { files, lines, advance, admin, ada: await asUser(ACME) };
}

/** Begins a rollout whose first stage passes in the next round after a minute. */
async function begin(send: Send): Promise<string> {
  await send("POST", "/policies", { version: "v1", yaml: "a: 1" });
  await send("POST", "/policies", { version: "v2", yaml: "a: 2", activate: false });
  const stages = [{ names: ["m1"], hold_minutes: 1 }, { percent: 100 }];
  const { status, body, text } = await send("POST", "/rollouts", { version: "v2", stages });
  assert.equal(status, 201, text);
  await send("POST", "/fleet/heartbeat", { name: "m1", policy_version: "v2" });
  return body.id;
}

const fetchPolicy = (send: Send) =>
  send("GET", "/policies?active=true", undefined, { "X-Runtime-Name": "m1" });

/** Without figures, so that nothing is stored for this. */
const stageOf = async (send: Send): Promise<number> =>
  (await send("GET", "/rollouts")).body.rollouts[0].current_stage;

const isRenameOfAcme = (operation: string, path: string): boolean =>
  operation === "rename" && path.includes("/acme/rollouts.json");

test("reading a rollout stores no fetches of other organizations", async (t) => {
  const { files, admin, ada } = await serve(t);
  const id = await begin(admin);
  const theirs = await begin(ada);
  files.before = (operation, path) => {
    if (isRenameOfAcme(operation, path)) throw systemError("EIO");
  };
  await fetchPolicy(ada);
  assert.equal((await admin("GET", `/rollouts/${id}`)).status, 200);
  assert.equal((await ada("GET", `/rollouts/${theirs}`)).status, 500);
  files.before = () => {};
  const { body } = await ada("GET", `/rollouts/${theirs}`);
  assert.equal(body.stages[0].figures.fetched, 1);
});

test("a rollout whose fetches cannot be stored waits, and the others are judged", async (t) => {
  const { files, lines, advance, admin, ada } = await serve(t);
  await begin(admin);
  await fetchPolicy(admin);
  const { rollouts } = layout.organization("default");
  while (!files.text(rollouts).includes("fetched")) await nextTurn(); // by the first round
  await begin(ada);
  let renames = 0;
  files.before = (operation, path) => {
    // Every second rename succeeds: it undoes the one before.
    if (isRenameOfAcme(operation, path) && renames++ % 2 === 0) throw systemError("EIO");
  };
  await fetchPolicy(ada);
  advance(MINUTE);
  const has = (message: string) => lines.some((line) => line.includes(message));
  while ((await stageOf(admin)) === 1) assert.ok(!has("could not be judged"), lines.join(""));
  assert.ok(has('fetches of a rollout could not be stored","organization":"acme"'));
  assert.equal(await stageOf(ada), 1);
  files.before = () => {};
  advance(MINUTE);
  while ((await stageOf(ada)) === 1);
});
