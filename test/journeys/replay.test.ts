/** Replays of a policy over stored events, through the server. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { DAY_MS } from "../../src/core/clock.ts";
import { REPLAYS } from "../../src/replay/replay.ts";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../support/start.ts";

const OPEN = "schema: signalbox/policy/v1\ndefault: allow\nrules: []\n";
const NO_PUSH = `schema: signalbox/policy/v1
default: allow
rules:
  - { id: no-push, effect: deny, reason: Ask a person, match: { commands: [{ prefix: git push }] } }
`;
const PATH = "/api/v1/policies/replay";

interface Example {
  readonly event: Readonly<Record<string, string>>;
}

/** Stores events: by default allowed ones, as a runtime with the open policy reports them. */
async function report(app: App, ...events: readonly Record<string, unknown>[]): Promise<void> {
  const sent = events.map((event, i) => ({
    ...{ id: `e${i}`, executor: "ada", decision: "allowed", runtimeName: "build-1" },
    ...event,
  }));
  assert.equal((await app.post("/api/v1/audit", { events: sent })).status, 202);
}

async function publish(app: App, version: string, yaml: string): Promise<void> {
  assert.equal((await app.post("/api/v1/policies", { version, yaml })).status, 201);
}

test("a policy is replayed against the active version, and nothing is stored", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  await publish(app, "v1", OPEN);
  await report(
    app,
    { command: "git push" },
    { command: "git push -f", executor: "bob" },
    { command: "ls" },
  );
  const { status, body } = await app.post(PATH, { yaml: NO_PUSH });
  assert.equal(status, 200);
  const changes = { newly_denied: 2, newly_allowed: 0 };
  const { from, to, examples, top, ...counts } = body;
  assert.deepEqual(counts, {
    ...{ evaluated: 3, unchanged: 1, ...changes, not_replayable: [] },
    rules: [
      { id: "no-push", hits: 2, ...changes },
      { id: null, hits: 1, newly_denied: 0, newly_allowed: 0 },
    ],
  });
  assert.equal(Date.parse(to) - Date.parse(from), 7 * DAY_MS);
  assert.deepEqual(top.runtimes, [{ name: "build-1", ...changes }]);
  assert.deepEqual(
    examples.map(({ event: { id, command, executor }, ...change }: Example) => [
      id,
      command,
      executor,
      change,
    ]),
    [
      ["e1", "git push -f", "bob"],
      ["e0", "git push", "ada"],
    ].map((event) => [
      ...event,
      { was: "ALLOWED", now: "DENIED", rule: "no-push", reason: "Ask a person" },
    ]),
  );
  assert.equal((await app.get("/api/v1/policies")).body.policies.length, 1);
  const admin = await app.asUser(ADMIN);
  const { body: log } = await app.get("/api/v1/activity", admin);
  assert.deepEqual(
    log.entries.map(({ action }: { action: string }) => action),
    ["login.succeeded", "policy.publish"],
  );
});

test("a replay compares a version with another one, or with what was recorded", async (t) => {
  const app = await start(t);
  await report(
    app,
    { command: "git push" },
    { command: "git push", decision: "denied" },
    { command: "ls", decision: null },
  );
  await publish(app, "v1", NO_PUSH);
  await publish(app, "v2", OPEN);
  const countsOf = async (body: object) => {
    const { evaluated, newly_denied, newly_allowed, not_replayable } = (await app.post(PATH, body))
      .body;
    return [evaluated, newly_denied, newly_allowed, not_replayable];
  };
  const undecided = [{ reason: "no_decision", events: 1 }];
  assert.deepEqual(await countsOf({ version: "v1" }), [3, 2, 0, []]);
  assert.deepEqual(await countsOf({ base: "v1" }), [3, 0, 2, []]);
  assert.deepEqual(await countsOf({ version: "v1", base: "recorded" }), [2, 1, 0, undecided]);
  assert.deepEqual(await countsOf({ base: "recorded" }), [2, 0, 1, undecided]);
  assert.deepEqual(await countsOf({}), [3, 0, 0, []]);
});

test("without an active version a replay compares with what was recorded", async (t) => {
  const app = await start(t);
  await report(app, { command: "git push" });
  const { body } = await app.post(PATH, { yaml: NO_PUSH });
  assert.deepEqual([body.evaluated, body.newly_denied], [1, 1]);
});

test("filters, the range of time and the number of examples choose the events", async (t) => {
  const app = await start(t);
  const daysAgo = (days: number) => new Date(app.now - days * DAY_MS).toISOString();
  await publish(app, "v1", OPEN);
  await report(
    app,
    { command: "git push 1", executor: "ada", consumer: "ai" },
    { command: "git push 2", executor: "bob", timestamp: daysAgo(6) },
    { command: "git push 3", executor: "bob", timestamp: daysAgo(8) },
    { command: "git push 4", executor: "bob", timestamp: daysAgo(-1) },
  );
  const denied = async (body: object) => {
    const { examples, newly_denied } = (await app.post(PATH, { yaml: NO_PUSH, ...body })).body;
    assert.equal(examples.length, newly_denied);
    return examples
      .map(({ event }: { event: { command: string } }) => event.command.slice(-1))
      .join("");
  };
  assert.equal(await denied({}), "12");
  assert.equal(await denied({ executor: "bob" }), "2");
  assert.equal(await denied({ not_executor: "bob" }), "1");
  assert.equal(await denied({ not_executor: "B*", wildcards: "not_executor" }), "1");
  assert.equal(await denied({ consumer: "ai", q: "PUSH" }), "1");
  assert.equal(await denied({ decision: "perhaps" }), "");
  assert.equal(await denied({ from: daysAgo(9) }), "123");
  assert.equal(await denied({ to: daysAgo(2) }), "23");
  assert.equal(await denied({ from: daysAgo(7), to: daysAgo(-2) }), "412");
  const { body } = await app.post(PATH, { yaml: NO_PUSH, examples: 1 });
  assert.deepEqual([body.newly_denied, body.examples.length], [2, 1]);
});

test("many events and long ones are read piece by piece", async (t) => {
  const app = await start(t);
  await publish(app, "v1", OPEN);
  const long = `git push ${"é".repeat(200_000)}`;
  const events = Array.from({ length: 700 }, (_, i) => ({
    id: `e${i}`,
    command: i % 350 === 7 ? long : `git ${i % 2 === 0 ? "push" : "pull"} "${i % 90}\n"`,
  }));
  await report(app, ...events);
  const { body } = await app.post(PATH, { yaml: NO_PUSH, examples: 200 });
  const pushes = events.filter(({ command }) => command.startsWith("git push")).length;
  assert.deepEqual([body.evaluated, body.newly_denied], [700, pushes]);
  assert.equal(body.examples.length, 46);
});

test("the number of changes agrees with a simulation of each event", async (t) => {
  const app = await start(t);
  const yaml = `${NO_PUSH}  - { id: no-sudo, effect: deny, match: { providers: [sudo], executors: [a*] } }
  - { id: not-here, effect: deny, match: { resources: [prod-*], consumers: [ai] }, except: [{ executors: [bob] }] }
`;
  const commands = [
    "git push",
    "true; git push",
    "sudo ls",
    "ls 'open",
    "bash -c 'git push'",
    "git status",
  ];
  const events = commands.flatMap((command, i) =>
    ["ada", "bob"].map((executor) => ({
      ...{ id: `${executor}${i}`, command, executor, resource: i % 2 === 0 ? "prod-eu" : "dev" },
      ...{ consumer: i % 3 === 0 ? "human" : "ai" },
    })),
  );
  await report(app, ...events);
  const verdicts = new Map<string, number>();
  for (const { id: _, ...command } of events) {
    const { rule } = (await app.post("/api/v1/policies/simulate", { yaml, ...command })).body;
    verdicts.set(rule, (verdicts.get(rule) ?? 0) + 1);
  }
  const { body } = await app.post(PATH, { yaml, base: "recorded" });
  assert.deepEqual(
    body.rules.map(({ id, hits }: { id: string; hits: number }) => [id, hits]),
    ["no-push", "no-sudo", "not-here", null].map((id) => [id, verdicts.get(id as string) ?? 0]),
  );
});

test("with Accept: text/event-stream a replay reports its progress and then its result", async (t) => {
  const app = await start(t);
  await report(app, { command: "git push" }, { command: "ls" });
  const blocks = await streamed(app, { yaml: NO_PUSH });
  const last = { evaluated: 2, total: 2 };
  assert.deepEqual(blocks.at(-2), ["progress", last]);
  const [event, result] = blocks.at(-1) ?? [];
  assert.equal(event, "result");
  const { body } = await app.post(PATH, { yaml: NO_PUSH });
  assert.deepEqual(result, body);
  const [refused] = await streamed(app, { yaml: "a: 1" });
  assert.equal(refused?.[0], "400");
});

/** The names and data of a streamed replay; of a refusal, its status and body. */
async function streamed(app: App, body: object) {
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const answer = await new Promise<{ status: string; type: string; body: string }>(
    (resolve, reject) => {
      const sending = request(
        app.url + PATH,
        { method: "POST", headers, agent: false },
        (response) => {
          const {
            statusCode,
            headers: { "content-type": type = "" },
          } = response;
          text(response).then(
            (content) => resolve({ status: String(statusCode), type, body: content }),
            reject,
          );
        },
      );
      sending.once("error", reject).end(JSON.stringify(body));
    },
  );
  if (answer.status !== "200") return [[answer.status, JSON.parse(answer.body)] as const];
  assert.equal(answer.type, "text/event-stream");
  return answer.body
    .trimEnd()
    .split("\n\n")
    .map((block) => {
      const [, event = "", data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      return [event, JSON.parse(data)] as const;
    });
}

test("requests that cannot be replayed say why", async (t) => {
  const app = await start(t);
  const wrong = async (body: unknown) => {
    const answer = await app.post(PATH, body);
    return [answer.status, answer.body.error];
  };
  assert.deepEqual(await wrong({}), [404, "No policy is active"]);
  await publish(app, "other", "a: 1");
  const declares =
    'expected a document that declares "schema: signalbox/policy/v1"; others cannot be replayed';
  for (const [body, status, message] of [
    [{ yaml: OPEN, version: "other" }, 400, "Give yaml or version, not both"],
    [{ yaml: "a: 1" }, 400, `yaml: ${declares}`],
    [{ yaml: "schema: signalbox/policy/v1" }, 400, "yaml, line 1, column 1: rules: required"],
    [{ yaml: OPEN }, 400, `base: the active policy version "other": ${declares}`],
    [{ version: "other", base: "recorded" }, 400, `Policy version "other": ${declares}`],
    [{ base: "recorded" }, 400, `The active policy version "other": ${declares}`],
    [{ yaml: OPEN, base: "other" }, 400, `base: policy version "other": ${declares}`],
    [{ version: "none" }, 404, 'There is no policy version "none"'],
    [{ yaml: OPEN, base: "none" }, 404, 'There is no policy version "none"'],
    [{ yaml: OPEN, examples: 201 }, 400, "examples: expected at most 200"],
    [{ yaml: OPEN, examples: -1 }, 400, "examples: expected at least 0"],
    [{ yaml: OPEN, from: "today" }, 400, /^from: expected an RFC 3339 date and time/],
    [{ yaml: OPEN, executor: 1 }, 400, "executor: expected a string"],
    [{ yaml: 1 }, 400, "yaml: expected a string"],
  ] as const) {
    const [got, error] = await wrong(body);
    assert.equal(got, status, JSON.stringify(body));
    if (typeof message === "string") assert.equal(error, message);
    else assert.match(error, message);
  }
});

test("a client gets one replay at a time, and too many that wait are refused", async (t) => {
  const app = await start(t);
  await report(app, { command: "git push" });
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => app.post(PATH, { yaml: NO_PUSH, base: "recorded" })),
  );
  const served = answers.filter(({ status }) => status === 200);
  assert.ok(served.length >= REPLAYS.waiting);
  for (const { body } of served) assert.equal(body.newly_denied, 1);
  assert.ok(served.length < answers.length);
  for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
    assert.equal(status, 503);
    assert.equal(body.error, "Too many replays are under way: try again");
  }
});

test("a client that leaves ends its replay, and the next one begins", async (t) => {
  const app = await start(t);
  await report(app, { command: "git push" });
  for (let i = 0; i < 5; i++) {
    await new Promise<void>((resolve) => {
      const headers = { "content-type": "application/json", accept: "text/event-stream" };
      const sending = request(app.url + PATH, { method: "POST", headers, agent: false });
      sending.once("error", () => resolve()).end(JSON.stringify({ yaml: NO_PUSH }));
      setImmediate(() => sending.destroy());
    });
  }
  assert.equal((await app.post(PATH, { yaml: NO_PUSH })).status, 200);
});

test("a guard refuses a version that would change too much, and nothing is stored", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const old = new Date(app.now - 30 * DAY_MS).toISOString();
  await publish(app, "v1", OPEN);
  await report(
    app,
    { command: "git push" },
    { command: "git push", timestamp: old },
    { command: "ls" },
  );
  const guarded = (guard: object | null, more: object = {}) =>
    app.post("/api/v1/policies", { version: "v2", yaml: NO_PUSH, guard, ...more });
  const { status, body } = await guarded({ max_newly_denied: 0, max_newly_allowed: 0 });
  assert.equal(status, 409);
  const message = "guard.max_newly_denied: 1 event would be newly denied, expected at most 0";
  assert.equal(body.error, message);
  assert.deepEqual(body.replay, (await app.post(PATH, { yaml: NO_PUSH })).body);
  const wider = await guarded({ max_newly_denied: 1, window_hours: 1_000 });
  assert.match(wider.body.error, /: 2 events would be newly denied, expected at most 1$/);
  assert.equal((await guarded({ max_newly_denied: 9 }, { base_version: "v0" })).status, 409);
  for (const [guard, error] of [
    [{}, "guard: expected max_newly_denied or max_newly_allowed"],
    [{ window_hours: 24 }, "guard: expected max_newly_denied or max_newly_allowed"],
    [{ max_newly_denied: -1 }, "guard.max_newly_denied: expected at least 0"],
    [{ max_newly_denied: 1, window_hours: 0 }, "guard.window_hours: expected at least 1"],
    [{ max_newly_denied: 1, window_hours: null }, "guard.window_hours: expected a whole number"],
    [
      { max_newly_denied: 1, max_newly_allowed: null },
      "guard.max_newly_allowed: expected a whole number",
    ],
    [
      { max_newly_denied: 1, max_newly_alowed: 0 },
      "guard.max_newly_alowed: unknown key, expected max_newly_denied, max_newly_allowed or window_hours",
    ],
    [null, "guard: expected a JSON object"],
  ] as const) {
    const refused = await guarded(guard);
    assert.deepEqual([refused.status, refused.body.error], [400, error]);
  }
  const { body: kept } = await app.get("/api/v1/policies");
  assert.deepEqual([kept.active, kept.policies.length], ["v1", 1]);
  const admin = await app.asUser(ADMIN);
  const { total } = (await app.get("/api/v1/activity?action=policy.publish", admin)).body;
  assert.equal(total, 1);
  assert.equal((await guarded({ max_newly_denied: 1 })).status, 201);
  const back = { yaml: OPEN, guard: { max_newly_allowed: 0 } };
  const { body: opening } = await app.post("/api/v1/policies", back);
  assert.match(opening.error, /^guard\.max_newly_allowed: 1 event would be newly allowed/);
});

test("a guard of the first version compares with what was recorded, and a document must be able to decide", async (t) => {
  const app = await start(t);
  await report(app, { command: "git push" });
  const send = (yaml: string, limit: number) =>
    app.post("/api/v1/policies", {
      version: `v${limit}`,
      yaml,
      guard: { max_newly_denied: limit },
    });
  assert.equal((await send(NO_PUSH, 0)).status, 409);
  assert.equal((await send("a: 1", 5)).status, 400);
  assert.equal((await send(NO_PUSH, 1)).status, 201);
});

test("a document that observes stops nothing, which a comparison of effects and the guard count", async (t) => {
  const app = await start(t);
  const observing = NO_PUSH.replace("\ndefault", "\nmode: observe\ndefault");
  await publish(app, "enforcing", NO_PUSH);
  await report(app, { command: "git push", decision: "denied" }, { command: "ls" });
  const changes = async (body: object): Promise<readonly [number, number]> => {
    const { newly_denied, newly_allowed } = (await app.post(PATH, body)).body;
    return [newly_denied, newly_allowed];
  };
  assert.deepEqual(await changes({ yaml: observing }), [0, 0]);
  assert.deepEqual(await changes({ yaml: observing, compare: "effects" }), [0, 1]);
  const guard = { max_newly_denied: 0, max_newly_allowed: 0 };
  const open = await app.post("/api/v1/policies", { yaml: observing, guard });
  assert.equal(open.status, 409);
  assert.equal(
    open.body.error,
    "guard.max_newly_allowed: 1 event would be newly allowed, expected at most 0",
  );
  const [{ was, now, rule }] = open.body.replay.examples;
  assert.deepEqual({ was, now, rule }, { was: "DENIED", now: "ALLOWED", rule: "no-push" });

  await publish(app, "observing", observing);
  assert.deepEqual(await changes({ yaml: NO_PUSH }), [0, 0]);
  assert.deepEqual(await changes({ yaml: NO_PUSH, compare: "effects" }), [1, 0]);
  const back = await app.post("/api/v1/policies", { yaml: NO_PUSH, guard });
  assert.equal(
    back.body.error,
    "guard.max_newly_denied: 1 event would be newly denied, expected at most 0",
  );
  const same = await app.post("/api/v1/policies", { yaml: `${observing}# the same`, guard });
  assert.equal(same.status, 201);
});

test("a redacted command is allowed by a document that observes, whatever it was", async (t) => {
  const app = await start(t);
  await publish(app, "v1", "schema: signalbox/policy/v1\ndefault: deny\nrules: []\n");
  await report(app, { command: "curl -u ada:[redacted:password] x", decision: "denied" });
  const observing = NO_PUSH.replace("\ndefault", "\nmode: observe\ndefault").replace(
    "git push",
    "curl -u ada:b",
  );
  const { body } = await app.post(PATH, { yaml: observing, compare: "effects" });
  assert.equal(body.newly_allowed, 1);
  assert.deepEqual((await app.post(PATH, { yaml: observing })).body.not_replayable, [
    { reason: "command_redacted", events: 1 },
  ]);
});
