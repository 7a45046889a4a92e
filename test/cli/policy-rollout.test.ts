import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { run } from "../support/command-line.ts";
import { newDirectory } from "../support/server-process.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const MINUTE = 60_000;
const V1 = `schema: signalbox/policy/v1
default: allow
rules:
  - { id: no-rm, effect: deny, match: { commands: [{ prefix: rm }] } }
`;
const V2 = `${V1}  - { id: no-push, effect: deny, match: { commands: [{ prefix: git push }] } }
`;
const STAGES = `on_breach: roll_back
stages:
  - { labels: { env: staging }, hold_minutes: 1, gates: { min_runtimes: 1 } }
  - { percent: 100, hold_minutes: 1 }
`;

/** A fleet of two machines on v1, a document and its stages, and a command line that lives while it waits. */
async function setUp(t: TestContext, stages = STAGES) {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const asked = { name: "pipeline", scopes: "policy" };
  const { api_key: key } = (await app.post("/api/v1/api-keys", asked, admin)).body;
  const directory = await newDirectory(t);
  const [file, plan] = [join(directory, "policy.yaml"), join(directory, "rollout.yaml")];
  await writeFile(file, V2);
  await writeFile(plan, stages);
  await app.post("/api/v1/policies", { version: "v1", yaml: V1 }, admin);
  const live = async (ms: number): Promise<void> => {
    for (const name of ["staging", "production"]) {
      const headers = { ...admin, "X-Runtime-Name": name };
      const { version } = (await app.get("/api/v1/policies?active=true", headers)).body;
      const heartbeat = { name, labels: { env: name }, policy_version: version };
      await app.post("/api/v1/fleet/heartbeat", heartbeat, admin);
    }
    app.advance(ms);
  };
  await live(0);
  const env = { SIGNALBOX_URL: app.url, SIGNALBOX_API_KEY: key };
  const waiting = { now: () => app.now, pause: live };
  const rollout = (...args: string[]) => run(["policy", "rollout", ...args], "", env, waiting);
  const begin = (...args: string[]) =>
    rollout("start", file, "--stages", plan, "--version", "v2", ...args);
  const newest = async () => (await app.get("/api/v1/rollouts", admin)).body.rollouts[0];
  const step = (name: string) =>
    newest().then(({ id }) => app.post(`/api/v1/rollouts/${id}/${name}`, {}, admin));
  return { ...{ app, admin, file, plan, env, rollout, begin, newest, step, live, waiting } };
}

test("a rollout is begun, followed stage by stage, and ends with exit code 0", async (t) => {
  const { begin, newest, rollout } = await setUp(t);
  const { code, out, error } = await begin("--note", "https://x.org/1", "--wait");
  assert.deepEqual([code, error], [0, ""], out);
  const lines = out.split("\n");
  assert.match(lines[0] ?? "", /^Rollout \S+ of v2 instead of v1, begun by portal-api$/);
  assert.match(
    lines[1] ?? "",
    /^stage 1: Runtimes with env:staging; ends when: it has run for 1 min, 1 runtime or more report it; 0 of 1 report it; denied before 0 of 0, since 0 of 0$/,
  );
  assert.match(
    lines[2] ?? "",
    /^stage 2: All runtimes; ends when: it has run for 1 min; not begun/,
  );
  assert.match(
    out,
    /^running, stage 1 of 2: 0 of at least 1 runtime report the version; The stage runs/m,
  );
  assert.match(out, /^running, stage 2 of 2: /m);
  assert.equal(lines.at(-2), "completed");
  assert.equal((await newest()).state, "completed");
  assert.deepEqual(await begin("--wait"), {
    ...{ code: 0, out: "v2 is active with the same text\n", error: "" },
  });
  assert.equal(new Set(lines).size, lines.length, out); // each line is new
  assert.match((await rollout("status")).out, /\nstage 2: .*; done.*\ncompleted\n$/);
  const status = await rollout("status", "--wait", "--json");
  assert.deepEqual([status.code, JSON.parse(status.out).state], [0, "completed"]);
});

test("a pipeline that runs again follows the rollout of the same text, and no other one", async (t) => {
  const { begin, newest, file } = await setUp(t);
  const first = JSON.parse((await begin("--json")).out);
  assert.deepEqual([first.ok, first.state, first.version], [true, "running", "v2"]);
  const again = JSON.parse((await begin("--json")).out);
  assert.equal(again.id, first.id);
  await writeFile(file, `${V2}# changed\n`);
  const { code, error } = await begin();
  assert.equal(code, 1);
  assert.match(error, /A rollout of "v2" is open: wait for its end, or roll it back, before/);
  assert.equal((await newest()).id, first.id);
});

test("the start of a rollout says that its document only observes", async (t) => {
  const { begin, file } = await setUp(t);
  await writeFile(file, V2.replace("default:", "mode: observe\ndefault:"));
  const { code, out, error } = await begin("--json");
  assert.deepEqual([code, error], [0, "The document observes: it stops no command.\n"]);
  assert.equal(JSON.parse(out).state, "running");
});

test("a version that was stored before its rollout could begin is used", async (t) => {
  const { app, admin, begin, newest } = await setUp(t);
  await app.post("/api/v1/policies", { version: "v2", yaml: V2, activate: false }, admin);
  assert.equal((await begin()).code, 0);
  assert.equal((await newest()).version, "v2");
});

for (const [name, state, said] of [
  ["roll_back", "rolled back", /rollout start: the rollout of v2 was rolled back\n$/],
  ["pause", "paused", /the rollout of v2 is paused: resume it, or roll it back\n$/],
] as const) {
  test(`a rollout that is ${state} meanwhile ends the wait with exit code 1`, async (t) => {
    const { env, file, plan, step, waiting } = await setUp(t);
    let looks = 0;
    const pause = async (): Promise<void> => {
      if (++looks === 2) await step(name);
    };
    const args = ["policy", "rollout", "start", file, "--stages", plan, "--wait"];
    const named = [...args, "--version", "v2"];
    const { code, out, error } = await run(named, "", env, { ...waiting, pause });
    assert.equal(code, 1, out);
    assert.match(error, said);
    assert.match(out, new RegExp(`^${state}`, "m"));
  });
}

test("a wait whose time is over is exit code 3, and the rollout goes on", async (t) => {
  const waits = STAGES.replace("hold_minutes: 1", "hold_minutes: 100");
  const { begin, newest } = await setUp(t, waits);
  const { code, error } = await begin("--wait", "--timeout", "5m");
  assert.equal(code, 3);
  assert.match(error, /start: the time is over, and the rollout of v2 is still running\n$/);
  assert.equal((await newest()).state, "running");
});

for (const [minutes, state] of [
  [4, "completed"],
  [6, undefined],
] as const) {
  test(`a service that is away for ${minutes} minutes ${state ? "is waited for" : "ends the wait"}`, async (t) => {
    const began = Date.parse("2026-11-20T12:00:00Z");
    let now = began;
    const rollout = { id: "r1", version: "v2", base_version: "v1", created_by: "ada" };
    const server = createServer((_, response) => {
      if (now > began && now < began + minutes * MINUTE) return response.writeHead(503).end("{}");
      const read = { ...rollout, state: now === began ? "running" : "completed" };
      return response.end(JSON.stringify({ ...read, current_stage: 1, stages: [] }));
    });
    await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
    t.after(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const waiting = { now: () => now, pause: async (ms: number) => void (now += ms) };
    const args = ["policy", "rollout", "status", "--id", "r1", "--wait", "--url", url];
    const { code, error } = await run(args, "", {}, waiting);
    assert.equal(code, state ? 0 : 2, error);
    if (!state) assert.match(error, /The server answered 503/);
  });
}

test("each step is taken by its command, and one that is not allowed says why", async (t) => {
  const { begin, newest, rollout } = await setUp(t);
  await begin();
  assert.match((await rollout("pause")).out, /^paused, stage 1 of 2/m);
  const early = await rollout("advance");
  assert.equal(early.code, 1);
  assert.match(early.error, /The rollout of "v2" is paused: resume it first/);
  assert.equal((await rollout("resume")).code, 0);
  const late = await rollout("advance", "--stage", "2");
  assert.equal(late.code, 1);
  assert.match(late.error, /stage: 2 is not the current stage, expected 1/);
  assert.match((await rollout("advance", "--stage", "1")).out, /^running, stage 2 of 2/m);
  const { id } = await newest();
  const ended = await rollout("roll-back", "--id", id, "--json");
  assert.deepEqual(JSON.parse(ended.out).state, "rolled_back");
  const unknown = await rollout("status", "--id", "nothing");
  assert.equal(unknown.code, 1);
  assert.match(unknown.error, /There is no rollout "nothing"/);
});

test("the stage in which a rollout is rolled back is not called done", async (t) => {
  const { begin, rollout } = await setUp(t);
  await begin();
  await rollout("advance");
  const { out } = await rollout("roll-back");
  assert.match(out, /\nstage 1: .*; done; .*\nstage 2: .*; rolled back; .*\nrolled back\n$/);
  assert.equal((await rollout("status")).out, out);
});

test("a document that denies too much is neither stored nor rolled out", async (t) => {
  const { app, admin, begin, newest } = await setUp(t);
  const event = { command: "git push", decision: "allowed", executor: "ada" };
  await app.post("/api/v1/audit", event, admin);
  app.advance(MINUTE);
  const { code, out, error } = await begin("--max-newly-denied", "0");
  assert.equal(code, 1);
  assert.match(out, /^newly denied by rule no-push: git push, run by ada$/m);
  assert.match(error, /rollout start: 1 event would be newly denied, expected at most 0/);
  assert.equal((await app.get("/api/v1/policies/v2", admin)).status, 404);
  assert.equal(await newest(), undefined);
});

/** A rollout's file with a text, beside a document. */
async function filesWith(stages: string): Promise<readonly [file: string, stages: string]> {
  const directory = await newDirectory({ after });
  const [file, plan] = [join(directory, "p.yaml"), join(directory, "r.yaml")];
  await writeFile(file, V2);
  await writeFile(plan, stages);
  return [file, plan];
}

for (const [what, stages, said] of [
  [
    "a misspelt gate",
    "stages: [{ percent: 5, gates: { min_runtime: 2 } }]",
    /r\.yaml: stages\[0\]\.gates\.min_runtime: unknown key, expected min_runtimes, max_denied/,
  ],
  ["a misspelt key", "stage: []", /r\.yaml: stage: unknown key, expected stages or on_breach/],
  ["a version", "version: v2\nstages: []", /r\.yaml: version: unknown key/],
  ["no stage", "stages: []", /r\.yaml: stages: expected at least one/],
  [
    "a stage for nobody",
    "stages: [{ hold_minutes: 5 }]",
    /stages\[0\]: expected at least one of percent/,
  ],
  ["a list", "[]", /r\.yaml: expected a mapping with stages/],
  ["no YAML", "stages: [", /r\.yaml: .* at line 1, column \d+/],
] as const) {
  test(`a file of stages with ${what} is exit code 1, and names its place`, async () => {
    const [file, plan] = await filesWith(stages);
    const env = { SIGNALBOX_URL: "http://127.0.0.1:1" };
    const args = ["policy", "rollout", "start", file, "--stages", plan];
    const { code, out, error } = await run(args, "", env);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(error, said);
    assert.equal(error.split("\n").length, 2);
  });
}

for (const [what, args, said] of [
  ["no stages", ["start", "p"], /--stages is missing; see/],
  [
    "a missing file",
    ["start", "p", "--stages", "/nowhere"],
    /\/nowhere: does not exist: give the path of a file with the stages of a rollout/,
  ],
  [
    "a file of stages without an end",
    ["start", "p", "--stages", "/dev/zero"],
    /\/dev\/zero: is larger than 128 KiB/,
  ],
  ["a time without a wait", ["status", "--timeout", "5m"], /--timeout: needs --wait/],
  [
    "a time without unit",
    ["status", "--wait", "--timeout", "5"],
    /--timeout: expected a time such as 30m or 5h instead of "5"/,
  ],
  ["a stage 0", ["pause", "--stage", "0"], /--stage: expected the number of a stage/],
  ["no server", ["status", "--url", "http://127.0.0.1:1"], /cannot be reached/],
] as const) {
  test(`${what} is exit code 2`, async () => {
    const { code, out, error } = await run(["policy", "rollout", ...args]);
    assert.deepEqual([code, out], [2, ""]);
    assert.match(error, said);
  });
}

test("without an active policy nothing is stored for a rollout", async () => {
  const app = await start({ after });
  const [file, plan] = await filesWith(STAGES);
  const args = ["policy", "rollout", "start", file, "--stages", plan, "--url", app.url];
  const { code, error } = await run(args);
  assert.equal(code, 1);
  assert.match(error, /No policy is active: publish the first version with policy publish\n$/);
  assert.deepEqual((await app.get("/api/v1/policies")).body.policies, []);
});

test("without a rollout there is no status", async (t) => {
  const { rollout } = await setUp(t);
  const { code, error } = await rollout("status");
  assert.equal(code, 1);
  assert.match(error, /There is no rollout: begin one first/);
});
