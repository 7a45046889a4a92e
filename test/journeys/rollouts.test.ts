import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../support/start.ts";
import type { Answer } from "../support/client.ts";

const API = "/api/v1";
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const STAGING = { labels: { env: "staging" } };

/** A fleet of two staging machines and eight others on the active version v1, and a version v2 that is not active. */
async function startFleet(t: Parameters<typeof start>[0]): Promise<App> {
  const app = await start(t);
  await app.post(`${API}/policies`, { version: "v1", yaml: "a: 1" });
  await app.post(`${API}/policies`, { version: "v2", yaml: "a: 2", activate: false });
  for (let n = 0; n < 10; n++) {
    const labels = { env: n < 2 ? "staging" : "production" };
    await beat(app, `m${n}`, { labels, policy_version: "v1" });
  }
  return app;
}

const beat = (app: App, name: string, fields: object = {}) =>
  app.post(`${API}/fleet/heartbeat`, { name, ...fields });

const fetchAs = (app: App, name: string, headers: object = {}) =>
  app.get(`${API}/policies?active=true`, { "X-Runtime-Name": name, ...headers });

/** Each machine fetches its policy, and reports the version. */
async function converge(app: App): Promise<void> {
  for (let n = 0; n < 10; n++) {
    const { body } = await fetchAs(app, `m${n}`);
    await beat(app, `m${n}`, { policy_version: body.version });
  }
}

async function begin(app: App, body: object): Promise<string> {
  const {
    status,
    body: created,
    text,
  } = await app.post(`${API}/rollouts`, {
    version: "v2",
    ...body,
  });
  assert.equal(status, 201, text);
  return created.id;
}

/** Reports commands that v2 decided, or that v1 decided before. */
async function report(app: App, runtime: string, policy: string, allowed: number, denied: number) {
  const events = Array.from({ length: allowed + denied }, (_, i) => ({
    ...{ command: "ls", runtime_name: runtime, policy },
    policy_decision: i < allowed ? "ALLOWED" : "DENIED",
  }));
  await app.post(`${API}/audit`, { events });
}

/** Reads a rollout until it has a state: the service judges it when its clock has moved. */
async function reaches(app: App, id: string, isReached: (body: Answer["body"]) => boolean) {
  for (;;) {
    const { body } = await app.get(`${API}/rollouts/${id}`);
    if (isReached(body)) return body;
  }
}

/** Reads the entries of an action once there are any: an entry may be written after its change is visible. */
async function recorded(app: App, action: string): Promise<readonly Answer["body"][]> {
  for (;;) {
    const { entries } = (await app.get(`${API}/activity?action=${action}`)).body;
    if (entries.length > 0) return entries;
  }
}

const versionsOf = async (app: App) =>
  Promise.all(
    Array.from({ length: 10 }, async (_, n) => (await fetchAs(app, `m${n}`)).body.version),
  );
const active = async (app: App) => (await app.get(`${API}/policies?active=true`)).body.version;

test("a rollout from staging over half of the fleet to the active version", async (t) => {
  const app = await startFleet(t);
  await report(app, "m0", "v1", 9, 1);
  await report(app, "m5", "v1", 5, 5);
  app.advance(MINUTE);
  const gates = { min_runtimes: 2, max_denied_increase_percent: 5, max_offline: 0 };
  const stages = [
    { ...STAGING, hold_minutes: 20, gates },
    { percent: 50, gates: { min_runtimes: 4 } },
  ];
  const id = await begin(app, { stages });
  assert.deepEqual(await versionsOf(app), ["v2", "v2", ...Array(8).fill("v1")]);
  assert.equal(await active(app), "v1");
  const first = (await app.get(`${API}/rollouts/${id}`)).body;
  assert.deepEqual(first.stages[0].figures, {
    ...{ assigned: 2, fetched: 2, reporting: 0, silent: 0 },
    before: { commands: 10, denied: 1 },
    after: { commands: 0, denied: 0 },
  });
  assert.deepEqual([first.judgement.outcome, first.judgement.reasons.length], ["waiting", 4]);

  await converge(app);
  await report(app, "m0", "v2", 9, 1);
  app.advance(10 * MINUTE);
  const held = (await app.get(`${API}/rollouts/${id}`)).body;
  assert.equal(held.current_stage, 1);
  assert.deepEqual(held.stages[0].figures.after, { commands: 10, denied: 1 });
  await converge(app); // or the gate could find the runtimes silent once the clock has moved
  await app.restart();
  app.advance(10 * MINUTE);
  const second = await reaches(app, id, ({ current_stage }) => current_stage === 2);
  assert.equal(second.stages[0].ended_at, new Date(app.now).toISOString());
  assert.equal(second.stages[0].figures.after.commands, 10);
  const half = (await versionsOf(app)).filter((version) => version === "v2").length;
  assert.equal(second.stages[1].figures.assigned, half);

  await recorded(app, "rollout.pass");
  await app.post(`${API}/rollouts/${id}/advance`, { stage: 2 });
  const done = (await app.get(`${API}/rollouts/${id}`)).body;
  assert.deepEqual([done.state, done.judgement], ["completed", undefined]);
  assert.equal(await active(app), "v2");
  assert.deepEqual(await versionsOf(app), Array(10).fill("v2"));
  const { body } = await app.get(`${API}/activity?action=rollout`);
  assert.deepEqual(
    body.entries.map((entry: Answer["body"]) => [
      entry.action,
      entry.actor.kind,
      entry.after.state,
    ]),
    [
      ["rollout.advance", "anonymous", "completed"],
      ["rollout.pass", "gate", "running"],
      ["rollout.create", "anonymous", "running"],
    ],
  );
});

for (const [onBreach, state, version] of [
  ["pause", "paused", "v2"],
  ["roll_back", "rolled_back", "v1"],
] as const) {
  test(`more denials than allowed: ${state}`, async (t) => {
    const app = await startFleet(t);
    const stages = [{ ...STAGING, gates: { max_denied_increase_percent: 10 } }, { percent: 100 }];
    const id = await begin(app, { stages, on_breach: onBreach });
    await converge(app);
    await report(app, "m1", "v2", 8, 2);
    app.advance(MINUTE);
    const stopped = await reaches(app, id, (body) => body.state !== "running");
    assert.equal(stopped.state, state);
    assert.equal(stopped.updated_by, "gate");
    assert.match(stopped.reason, /^20% of 10 commands were denied, 0% before/);
    assert.equal((await fetchAs(app, "m0")).body.version, version);
    const entries = await recorded(app, "rollout.breach");
    assert.equal(entries.length, 1);
    assert.equal(entries[0].surface, "service");
    if (onBreach === "pause") {
      const early = await app.post(`${API}/rollouts/${id}/advance`, {});
      assert.equal(early.body.error, 'The rollout of "v2" is paused: resume it first');
      assert.equal(
        (await app.post(`${API}/rollouts/${id}/roll_back`, {})).body.state,
        "rolled_back",
      );
      assert.equal((await fetchAs(app, "m0")).body.version, "v1");
    }
  });
}

test("runtimes that go silent with the version stop a rollout", async (t) => {
  const app = await startFleet(t);
  const id = await begin(app, { stages: [{ ...STAGING, gates: { max_offline: 1 } }] });
  await converge(app);
  app.advance(14 * MINUTE);
  assert.equal((await app.get(`${API}/rollouts/${id}`)).body.judgement.outcome, "waiting");
  app.advance(MINUTE);
  const stopped = await reaches(app, id, (body) => body.state !== "running");
  assert.match(stopped.reason, /^2 runtimes with the version have been silent/);
});

test("silence never ends a stage", async (t) => {
  const app = await startFleet(t);
  const id = await begin(app, { stages: [{ ...STAGING, hold_minutes: 1 }, { percent: 100 }] });
  app.advance(3 * 24 * 60 * MINUTE);
  const { body } = await app.get(`${API}/rollouts/${id}`);
  assert.deepEqual(
    [body.current_stage, body.judgement],
    [
      1,
      {
        ...{ outcome: "waiting", by_itself: true },
        reasons: ["0 of at least 1 runtime report the version"],
      },
    ],
  );
});

test("a version that is activated meanwhile ends the rollout at once", async (t) => {
  const app = await startFleet(t);
  const id = await begin(app, { stages: [{ percent: 100 }, { percent: 100 }] });
  await app.post(`${API}/policies`, { version: "v3", yaml: "a: 3" });
  assert.deepEqual(await versionsOf(app), Array(10).fill("v3"));
  const ended = (await app.get(`${API}/rollouts/${id}`)).body;
  assert.deepEqual([ended.state, ended.reason], ["superseded", 'Version "v3" was activated']);
  const late = await app.post(`${API}/rollouts/${id}/advance`, {});
  assert.deepEqual([late.status, await active(app)], [409, "v3"]);
  const next = await begin(app, { stages: [{ percent: 100 }] });
  const { rollouts } = (await app.get(`${API}/rollouts`)).body;
  assert.deepEqual(
    rollouts.map((one: Answer["body"]) => [one.id, one.state]),
    [
      [next, "running"],
      [id, "superseded"],
    ],
  );
  await app.post(`${API}/policies/v2/activate`, {});
  app.advance(MINUTE);
  await reaches(app, next, ({ state }) => state === "completed");
});

for (const [action, activated, body] of [
  ["rollout.complete", "v2", { version: "v1" }],
  ["rollout.supersede", "v3", { version: "v2" }],
] as const) {
  test(`a rollout that an activation ended has its entry when the next one begins: ${action}`, async (t) => {
    const app = await startFleet(t);
    const stages = [{ percent: 100 }];
    const id = await begin(app, { stages });
    await app.post(`${API}/policies`, { version: "v3", yaml: "a: 3", activate: false });
    await app.post(`${API}/policies/${activated}/activate`, {});
    const next = await begin(app, { ...body, stages });
    const { entries } = (await app.get(`${API}/activity?action=rollout`)).body;
    assert.deepEqual(
      entries.map((entry: Answer["body"]) => [entry.action, entry.actor.kind, entry.target.id]),
      [
        ["rollout.create", "anonymous", next],
        [action, "gate", id],
        ["rollout.create", "anonymous", id],
      ],
    );
  });
}

test("of two rollouts that begin at once, the second is told of the first", async (t) => {
  const app = await startFleet(t);
  await begin(app, { stages: [{ percent: 100 }] });
  await app.post(`${API}/policies`, { version: "v3", yaml: "a: 3" }); // both find it, and end it
  const body = { version: "v2", stages: [{ percent: 100 }] };
  const answers = await Promise.all([1, 2].map(() => app.post(`${API}/rollouts`, body)));
  const refused = answers.filter(({ status }) => status !== 201).map((one) => one.body.error);
  assert.equal(refused.length, 1);
  assert.match(refused[0], /^A rollout of "v2" is open/);
});

test("a return to the version before does not continue a rollout that an activation ended", async (t) => {
  const app = await startFleet(t);
  const id = await begin(app, { stages: [{ percent: 100 }, { percent: 100 }] });
  app.advance(SECOND);
  await app.post(`${API}/policies`, { version: "v3", yaml: "a: 3" });
  app.advance(SECOND);
  await recorded(app, "rollout.supersede");
  await app.post(`${API}/policies/v1/activate`, {});
  assert.equal((await app.get(`${API}/rollouts/${id}`)).body.state, "superseded");
  assert.deepEqual(await versionsOf(app), Array(10).fill("v1"));
});

test("the end of a rollout by an activation is recorded", async (t) => {
  const app = await startFleet(t);
  await begin(app, { stages: [{ percent: 100 }] });
  await app.post(`${API}/policies`, { version: "v3", yaml: "a: 3" });
  app.advance(MINUTE);
  const [entry] = await recorded(app, "rollout.supersede");
  const reason = 'Version "v3" was activated';
  assert.deepEqual(entry.after, { state: "superseded", stage: 1, reason });
});

test("a rollout that cannot begin says why", async (t) => {
  const app = await start(t);
  const asked = async (body: object) => {
    const { status, body: answer } = await app.post(`${API}/rollouts`, body);
    return [status, answer.error];
  };
  const stages = [{ percent: 5 }];
  await app.post(`${API}/policies`, { version: "v2", yaml: "a: 2", activate: false });
  assert.deepEqual(await asked({ version: "v9", stages }), [
    404,
    'There is no policy version "v9"',
  ]);
  assert.deepEqual(await asked({ version: "v2", stages }), [
    409,
    "No policy is active: activate one first",
  ]);
  await app.post(`${API}/policies`, { version: "v1", yaml: "a: 1" });
  assert.deepEqual(await asked({ version: "v1", stages }), [
    409,
    'Version "v1" is the active one already',
  ]);
  for (const [stage, error] of [
    [{}, "stages[0]: expected at least one of percent, labels and names"],
    [{ percent: 0 }, "stages[0].percent: expected at least 1"],
    [{ percent: 101 }, "stages[0].percent: expected at most 100"],
    [{ labels: {} }, "stages[0].labels: expected at least one"],
    [
      { labels: { env: "" } },
      "stages[0].labels.env: expected 1 to 64 characters without control characters",
    ],
    [{ names: [] }, "stages[0].names: expected at least one"],
    [{ names: [" "] }, "stages[0].names: expected names that are not empty"],
    [{ percent: 5, labels: null }, "stages[0].labels: expected a JSON object"],
    [{ labels: { env: "staging", team: null } }, "stages[0].labels.team: expected a string"],
    [{ percent: 5, gates: null }, "stages[0].gates: expected a JSON object"],
    [
      { percent: 5, gates: { max_offline: null } },
      "stages[0].gates.max_offline: expected a whole number",
    ],
    [
      { percent: 5, gates: { max_ofline: 0 } },
      "stages[0].gates.max_ofline: unknown key, expected min_runtimes, max_denied_increase_percent or max_offline",
    ],
    [
      { percent: 5, gate: {} },
      "stages[0].gate: unknown key, expected percent, labels, names, hold_minutes or gates",
    ],
  ] as const) {
    assert.deepEqual(await asked({ version: "v2", stages: [stage] }), [400, error]);
  }
  assert.deepEqual(await asked({ version: "v2", stages, on_breech: "roll_back" }), [
    400,
    "on_breech: unknown key, expected version, stages or on_breach",
  ]);
  const step = await app.post(`${API}/rollouts/r1/advance`, { stage: null });
  assert.deepEqual([step.status, step.body.error], [400, "stage: expected a whole number"]);
  assert.deepEqual(await asked({ version: "v2", stages: [] }), [
    400,
    "stages: expected at least one",
  ]);
  const long = Array.from({ length: 300 }, (_, i) => `${i}`.padEnd(250, "x"));
  assert.deepEqual(await asked({ version: "v2", stages: [{ names: long }] }), [
    400,
    "stages: expected at most 65536 characters of names and labels; select runtimes by a label",
  ]);
  const many = Array(21).fill({ percent: 5 });
  assert.equal((await asked({ version: "v2", stages: many }))[0], 400);
  assert.equal((await asked({ version: "v2", stages }))[0], 201);
  assert.deepEqual(await asked({ version: "v2", stages }), [
    409,
    'A rollout of "v2" is open: finish it or roll it back before another one begins',
  ]);
});

test("a named fetch has its own entity tag, and heartbeats name the assigned version", async (t) => {
  const app = await startFleet(t);
  const id = await begin(app, { stages: [{ names: ["büro", "m3"] }] });
  const tag = (await fetchAs(app, "m3")).headers.get("etag") ?? "";
  const stable = (await fetchAs(app, "m4")).headers.get("etag") ?? "";
  assert.notEqual(tag, stable);
  assert.equal((await fetchAs(app, "m3", { "If-None-Match": tag })).status, 304);
  assert.equal((await fetchAs(app, "m3", { "If-None-Match": stable })).status, 200);
  assert.equal((await fetchAs(app, "m4", { "If-None-Match": stable })).status, 304);
  const utf8 = Buffer.from("büro", "utf8").toString("latin1");
  assert.equal((await fetchAs(app, utf8)).body.version, "v2");
  assert.equal((await fetchAs(app, " ")).body.version, "v1");
  assert.deepEqual((await beat(app, "m3")).body, { status: "ok", policy_version: "v2" });
  const fetched = async () =>
    (await app.get(`${API}/rollouts/${id}`)).body.stages[0].figures.fetched;
  assert.equal(await fetched(), 1); // "büro" is not of the fleet yet
  const registered = await app.post(`${API}/runtime/register`, { name: "büro" });
  assert.equal(registered.body.policy_version, "v2");
  await fetchAs(app, utf8);
  assert.equal(await fetched(), 2);
});

test("drift is the difference from the assigned version", async (t) => {
  const app = await startFleet(t);
  await begin(app, { stages: [STAGING] });
  const drifted = async () => {
    const { body } = await app.get(`${API}/fleet?drifted=true&sort=name&limit=20`);
    const summary = (await app.get(`${API}/fleet/summary`)).body.drifted;
    const dashboard = (await app.get(`${API}/dashboard`)).body.runtimes_drifted;
    const names = body.runtimes.map(({ name }: { name: string }) => name);
    assert.deepEqual([summary, dashboard], [names.length, names.length]);
    return names;
  };
  assert.deepEqual(await drifted(), ["m0", "m1"]);
  await beat(app, "m0", { policy_version: "v2" });
  assert.deepEqual(await drifted(), ["m1"]);
  await beat(app, "m1", { labels: { env: "production" } });
  assert.deepEqual(await drifted(), []);
  const { runtimes } = (await app.get(`${API}/fleet?label=env:staging`)).body;
  assert.deepEqual(
    runtimes.map((one: Answer["body"]) => [one.name, one.assigned_version]),
    [["m0", "v2"]],
  );
  const both = (await app.get(`${API}/fleet?label=env:staging&label=env:production`)).body;
  assert.deepEqual(both, { runtimes: [] });
  assert.equal((await app.get(`${API}/fleet?label=staging`)).status, 400);
  const { body: refused } = await app.get(`${API}/fleet?${"label=a:b&".repeat(33)}`);
  assert.equal(refused.error, "label: expected at most 32");
});

test("a step names the person, and organizations do not see each other's rollouts", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  await app.post(`${API}/policies`, { version: "v1", yaml: "a: 1" }, admin);
  await app.post(`${API}/policies`, { version: "v2", yaml: "a: 2", activate: false }, admin);
  const body = { version: "v2", stages: [{ percent: 50 }] };
  const { id, created_by } = (await app.post(`${API}/rollouts`, body, admin)).body;
  assert.equal(created_by, ADMIN.email);
  const other = { email: "eve@acme.example.com", password: ADMIN.password };
  const acme = { name: "Acme", admin_email: other.email, admin_password: other.password };
  await app.post(`${API}/organizations`, acme, admin);
  const eve = await app.asUser(other);
  assert.equal((await app.get(`${API}/rollouts/${id}`, eve)).status, 404);
  assert.equal((await app.post(`${API}/rollouts/${id}/roll_back`, {}, eve)).status, 404);
  assert.equal((await app.get(`${API}/rollouts/${id}%00`, eve)).status, 404);
  assert.equal((await app.post(`${API}/rollouts/%00/pause`, {}, eve)).status, 404);
  assert.deepEqual((await app.get(`${API}/rollouts`, eve)).body, { rollouts: [] });
  const paused = await app.post(`${API}/rollouts/${id}/pause`, {}, admin);
  assert.deepEqual([paused.body.state, paused.body.updated_by], ["paused", ADMIN.email]);
  const entry = (await app.get(`${API}/activity?action=rollout.pause`, admin)).body.entries[0];
  assert.equal(entry.actor.email, ADMIN.email);
  assert.deepEqual([entry.before.state, entry.after.state], ["running", "paused"]);
});
