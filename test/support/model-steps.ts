/** The steps in the sequences of `test/journeys/model.test.ts`. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { matchesOf } from "../audit/naive-audit.ts";
import type { CrashingApp } from "./crashing-app.ts";
import {
  checkAll,
  checkAnswer,
  idsOf,
  organizationOf,
  PROVIDERS,
  type Model,
  type View,
} from "./model-checks.ts";
import { ADMIN, START_TIME } from "./start.ts";

type Step = fc.AsyncCommand<Model, CrashingApp>;
type Body = Readonly<Record<string, unknown>>;

// Mostly absent.
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const MINUTE_MS = 60_000;
const WRONG_PASSWORD = "not the password";

const VERSIONS = ["", "v1", "v2", "v3", "a/b ü", "%2e", "x".repeat(128)];
const WRONG_VERSIONS = [".", "..", "a\nb", "x".repeat(129), 7];
const YAML = ["rules: []\n", "a: 1", "# é\r\na: [1, 2]"];
const WRONG_YAML = ["", "- 1", "a: [", "a: 1\na: 2", "a: *b"];
const someVersion = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>(...VERSIONS) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(...WRONG_VERSIONS) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }) },
);
const somePublication = fc.record(
  { version: someVersion, name: fc.constantFrom("n", "é"), activate: fc.boolean() },
  { requiredKeys: [] },
);
const someYaml = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...YAML) },
  { weight: 1, arbitrary: fc.constantFrom(...WRONG_YAML) },
);

const someMoment = fc
  .integer({ min: -3000, max: 1500 })
  .map((minutes) => new Date(Date.parse(START_TIME) + minutes * MINUTE_MS).toISOString());
const someId = fc.nat(7).map((n) => `e${n}`);
const someDecision = fc.constantFrom("ALLOWED", "denied", "Allowed", "");
const someEvent: fc.Arbitrary<unknown> = fc.record(
  {
    id: fc.oneof(someId, fc.constant("")),
    timestamp: someMoment,
    command: fc.constantFrom("git push", " kubectl get pods", "İstanbul 😀", "", "x".repeat(3000)),
    user: fc.constantFrom("ada", "Bob"),
    executor: fc.constantFrom("eve", ""),
    tool: fc.constantFrom("git", "aws"),
    decision: someDecision,
    policy_decision: someDecision,
    consumer: fc.constantFrom("human", "AI", "ci", ""),
    ai: fc.boolean(),
    status: fc.constantFrom("failed", "error"),
    policyVersion: fc.constantFrom("v1", "v2"),
    durationMs: fc.nat(),
  },
  { requiredKeys: [] },
);
const wrongEvents = [
  { broken: 1 },
  { broken: 1, id: "e1", command: 7 },
  { broken: 1, id: "with space" },
  { broken: 1, id: "export" },
  { broken: 1, timestamp: "2026-02-30T00:00:00Z" },
  { broken: 1, id: "e2", decision: "maybe" },
  { broken: 1, durationMs: -1 },
  null,
  "text",
];
const someWrong = fc.constantFrom<readonly unknown[]>(...wrongEvents.map((event) => [event]));
const someBatch = fc
  .tuple(fc.array(someEvent, { maxLength: 6 }), rarely(someWrong))
  .map(([events, wrong = []]) => [...events, ...wrong]);

/** An element of a list, chosen by a number; `undefined` if the list is empty. */
function pick<T>(list: readonly T[], n: number): T | undefined {
  return list[n % Math.max(1, list.length)];
}

const path = encodeURIComponent;

/** All steps. Cheap ones appear several times, since each entry is equally likely. */
export function someStep(views: readonly View[]): fc.Arbitrary<Step>[] {
  const someView = fc.constantFrom(...views);
  const managed = fc.constantFrom(...views.filter(({ prefix }) => prefix === "/api/v1"));
  const often = [
    ...policySteps(someView),
    ...auditSteps(someView),
    ...fleetSteps(someView, managed),
  ];
  const rest = [...keySteps(managed), ...settingsSteps(managed), ...userSteps(managed)];
  const shares = [often, often, often, often, often, often, rest, rest, rest];
  return [...shares.flat(), ...timeSteps(), ...dearSteps(managed)];
}

/** A step that is always possible, shown by its name and its arguments. */
function step<T>(
  name: string,
  given: fc.Arbitrary<T>,
  run: (given: T, model: Model, real: CrashingApp) => Promise<void>,
): fc.Arbitrary<Step> {
  return given.map((value) => ({
    check: () => true,
    run: (model, real) => run(value, model, real),
    toString: () => `${name}(${fc.stringify(value)})`,
  }));
}

function policySteps(someView: fc.Arbitrary<View>): fc.Arbitrary<Step>[] {
  return [
    step(
      "publish",
      fc.tuple(someView, somePublication, someYaml),
      async ([view, rest, yaml], model, { app }) => {
        const body = { ...rest, yaml };
        const isValid = YAML.includes(yaml);
        const organization = organizationOf(model, view);
        const expected = organization.publish(body, isValid, view.by, app.now);
        checkAnswer(await app.post(`${view.prefix}/policies`, body, view.headers), expected);
      },
    ),
    step("activate", fc.tuple(someView, fc.nat(9)), async ([view, n], model, { app }) => {
      const organization = organizationOf(model, view);
      const version = (n > 0 && pick(organization.policies, n)?.version) || "none";
      const expected = organization.activate(version, view.by, app.now);
      const target = `${view.prefix}/policies/${path(version)}`;
      checkAnswer(await app.post(`${target}/activate`, {}, view.headers), expected);
      const body = organization.policy(version);
      checkAnswer(await app.get(target, view.headers), { status: expected.status, body });
    }),
  ];
}

const someQuery = fc.record({
  q: rarely(fc.constantFrom("GIT", "i̇stan", "😀", "zz", "od")),
  decision: rarely(fc.constantFrom("allowed", "DENIED", "maybe")),
  provider: rarely(fc.constantFrom("git", "aws", "g")),
  consumer: rarely(fc.constantFrom("human", "ai", "nobody")),
  executor: rarely(fc.constantFrom("ada", "eve")),
  policy: rarely(fc.constantFrom("v1")),
  status: rarely(fc.constantFrom("failed", "unknown")),
  from: rarely(someMoment),
  to: rarely(someMoment),
});
const LIMITS = [
  [undefined, 100],
  ["1", 1],
  ["3", 3],
  ["0", 1],
  ["-7", 1],
  ["5000", 1000],
  ["ten", 100],
  ["1.5", 100],
] as const;
const OFFSETS = [
  [undefined, 0],
  ["2", 2],
  ["7", 7],
  ["-1", 0],
  ["x", 0],
  ["100000", 100000],
] as const;

function queryOf(parts: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parts).filter(([, value]) => value !== undefined);
  return given.map(([name, value = ""]) => `${name}=${path(value)}`).join("&");
}

function filterOf({ decision, from, to, ...rest }: Readonly<Record<string, string | undefined>>) {
  const ms = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  return { ...rest, decision: decision?.toUpperCase(), from: ms(from), to: ms(to) };
}

function auditSteps(someView: fc.Arbitrary<View>): fc.Arbitrary<Step>[] {
  return [
    step("ingest", fc.tuple(someView, someEvent), async ([view, event], model, { app }) => {
      const answer = await app.post(`${view.prefix}/audit`, event, view.headers);
      const drawnId = (): string => answer.body.id;
      const { status, body } = organizationOf(model, view).ingest(
        [event],
        view.by,
        app.now,
        drawnId,
      );
      checkAnswer(answer, { status, body: body && (body as unknown[])[0] });
    }),
    step("ingestBatch", fc.tuple(someView, someBatch), async ([view, events], model, { app }) => {
      const answer = await app.post(`${view.prefix}/audit`, { events }, view.headers);
      const drawnId = (n: number): string => answer.body.events[n].id;
      const expected = organizationOf(model, view).ingest(events, view.by, app.now, drawnId);
      checkAnswer(answer, expected, (body) => body.events);
      if (expected.status === 202) assert.equal(answer.body.accepted, events.length);
    }),
    step(
      "list",
      fc.tuple(someView, someQuery, fc.constantFrom(...LIMITS), fc.constantFrom(...OFFSETS)),
      async ([view, query, [limitText, limit], [offsetText, offset]], model, { app }) => {
        const found = matchesOf(organizationOf(model, view).events, filterOf(query));
        const target = queryOf({ ...query, limit: limitText, offset: offsetText });
        const { body } = await app.get(`${view.prefix}/audit?${target}`, view.headers);
        const events = found.slice(offset, offset + limit);
        assert.deepEqual(idsOf(body.events), idsOf(events));
        const [returned, total] = [events.length, found.length];
        const { events: _, next_cursor, ...rest } = body;
        assert.deepEqual(rest, { limit, offset, returned, total });
        assert.equal(next_cursor !== undefined, offset + returned < total && returned > 0);
      },
    ),
    step(
      "walk",
      fc.tuple(someView, someQuery, fc.nat(3)),
      async ([view, query, n], model, { app }) => {
        const found = matchesOf(organizationOf(model, view).events, filterOf(query));
        const ids: string[] = [];
        let cursor: string | undefined;
        do {
          const target = queryOf({ ...query, limit: String(n + 1), cursor });
          const { body } = await app.get(`${view.prefix}/audit?${target}`, view.headers);
          ids.push(...idsOf(body.events));
          cursor = body.next_cursor;
        } while (cursor !== undefined);
        assert.deepEqual(ids, idsOf(found));
      },
    ),
    step("export", fc.tuple(someView, someQuery), async ([view, query], model, { app }) => {
      const organization = organizationOf(model, view);
      const found = matchesOf(organization.events, filterOf(query));
      const target = queryOf({ ...query, format: "ndjson" });
      const { text } = await app.get(`${view.prefix}/audit/export?${target}`, view.headers);
      const lines = text.split("\n").filter((line) => line !== "");
      assert.deepEqual(
        lines.map((line) => JSON.parse(line) as unknown),
        found,
      );
      // Without credentials an export leaves no entry.
      if (view.prefix === "/api/v1") organization.told("audit.export");
    }),
    step("getEvent", fc.tuple(someView, someId), async ([view, id], model, { app }) => {
      const body = organizationOf(model, view).events.find((event) => event.id === id);
      const answer = await app.get(`${view.prefix}/audit/${id}`, view.headers);
      checkAnswer(answer, { status: body === undefined ? 404 : 200, body });
    }),
  ];
}

const someRuntime = fc.constantFrom("r1", "r2", " r2 ", "a/b ü", "  ");
const someReport = fc.record(
  {
    hostname: fc.constantFrom("h1", "h2", ""),
    os: fc.constantFrom("linux", "mac"),
    version: fc.constantFrom("1", "2"),
  },
  { requiredKeys: [] },
);

function fleetSteps(
  someView: fc.Arbitrary<View>,
  managed: fc.Arbitrary<View>,
): fc.Arbitrary<Step>[] {
  const beats = fc.constantFrom("/fleet/heartbeat", "/runtime/heartbeat");
  return [
    step(
      "heartbeat",
      fc.tuple(someView, beats, someRuntime, someReport),
      async ([view, target, name, rest], model, { app }) => {
        const body = { name, policy_version: "v1", ...rest };
        const { status } = organizationOf(model, view).heartbeat(body, app.now);
        const answer = await app.post(view.prefix + target, body, view.headers);
        checkAnswer(answer, { status: status === 201 ? 200 : status });
      },
    ),
    step(
      "register",
      fc.tuple(someView, someRuntime, someReport),
      async ([view, name, rest], model, { app }) => {
        const body: Body = { name, ...rest };
        const expected = organizationOf(model, view).heartbeat(body, app.now);
        const answer = await app.post(`${view.prefix}/runtime/register`, body, view.headers);
        checkAnswer(answer, expected, (result) => result.name);
        if (expected.status === 400) return;
        const { runtimeId } = answer.body;
        const key = `${view.organization} ${answer.body.name}`;
        assert.equal(runtimeId, model.runtimeIds.get(key) ?? runtimeId);
        model.runtimeIds.set(key, runtimeId);
      },
    ),
    step(
      "forget",
      fc.tuple(managed, fc.constantFrom("r1", "r2 ", "a/b ü")),
      async ([view, name], model, { app }) => {
        const expected = organizationOf(model, view).forget(name);
        checkAnswer(await app.delete(`/api/v1/fleet/${path(name)}`, view.headers), expected);
      },
    ),
  ];
}

function keySteps(managed: fc.Arbitrary<View>): fc.Arbitrary<Step>[] {
  return [
    step(
      "createKey",
      fc.tuple(managed, fc.constantFrom("k", "é", " ")),
      async ([view, name], model, { app }) => {
        const answer = await app.post("/api/v1/api-keys", { name }, view.headers);
        checkAnswer(answer, { status: name === " " ? 400 : 201 });
        if (answer.status === 400) return;
        const { api_key, warning: _, ...shown } = answer.body;
        organizationOf(model, view).keyCreated({ text: api_key, shown });
      },
    ),
    step("useKey", fc.tuple(managed, fc.nat(9)), async ([view, n], model, { app }) => {
      const organization = organizationOf(model, view);
      const key = pick(organization.keys, n);
      if (key === undefined) return;
      const answer = await app.get("/api/v1/audit", { "x-api-key": key.text });
      checkAnswer(answer, { status: key.shown.revoked ? 401 : 200 });
      if (key.shown.revoked) return;
      assert.equal(answer.body.total, organization.events.length);
      const last_used_at = new Date(app.now).toISOString();
      organization.keyUsed(key.shown.id, last_used_at);
    }),
    step("revokeKey", fc.tuple(managed, fc.nat(9)), async ([view, n], model, { app }) => {
      const organization = organizationOf(model, view);
      const id = pick(organization.keys, n)?.shown.id ?? "none";
      const expected = organization.revoke(id);
      checkAnswer(await app.delete(`/api/v1/api-keys/${id}`, view.headers), expected);
    }),
  ];
}

function settingsSteps(managed: fc.Arbitrary<View>): fc.Arbitrary<Step>[] {
  const pair = fc.record({ key: fc.constantFrom("a", "b", "__proto__"), value: fc.string() });
  return [
    step(
      "setSettings",
      fc.tuple(managed, fc.array(pair, { maxLength: 3 })),
      async ([view, pairs], model, { app }) => {
        const settings = pairs.map(({ key, value }) => ({ key, value }));
        const expected = organizationOf(model, view).replaceSettings(settings);
        const answer = await app.put("/api/v1/settings", { settings }, view.headers);
        checkAnswer(answer, expected, (body) => body.settings);
      },
    ),
    step(
      "setProvider",
      fc.tuple(
        managed,
        fc.constantFrom(...PROVIDERS),
        fc.constantFrom("degraded", "offline", undefined),
      ),
      async ([view, id, status], model, { app }) => {
        const expected = organizationOf(model, view).setProvider(id, status, id !== "none");
        const target = `/api/v1/providers/${id}`;
        const answer = await (status === undefined
          ? app.delete(target, view.headers)
          : app.put(target, { status }, view.headers));
        checkAnswer(answer, expected);
      },
    ),
  ];
}

const someChange = fc.record(
  {
    name: fc.constantFrom("Ada", "é"),
    role: fc.constantFrom("viewer", "admin"),
    active: fc.boolean(),
  },
  { requiredKeys: [] },
);

function userSteps(managed: fc.Arbitrary<View>): fc.Arbitrary<Step>[] {
  return [
    // The admins whose tokens the views use stay active: otherwise the sequence would end.
    step(
      "changeUser",
      fc.tuple(managed, fc.nat(5), someChange),
      async ([view, n, change], model, { app }) => {
        const organization = organizationOf(model, view);
        const { id = "none", email } = pick(organization.users, n)?.shown ?? {};
        const body = email === view.by ? { ...change, active: true } : change;
        const expected = organization.changeUser(id, body, view.by);
        checkAnswer(await app.patch(`/api/v1/users/${id}`, body, view.headers), expected);
      },
    ),
    step("deleteUser", fc.tuple(managed, fc.nat(5)), async ([view, n], model, { app }) => {
      const organization = organizationOf(model, view);
      const others = organization.users.filter(({ shown }) => shown.email !== view.by);
      const id = pick(others, n)?.shown.id ?? "none";
      const expected = organization.deleteUser(id);
      checkAnswer(await app.delete(`/api/v1/users/${id}`, view.headers), expected);
    }),
    step("useToken", fc.nat(5), async (n, model, { app }) => {
      const token = pick(model.tokens, n);
      if (token === undefined) return;
      const users = [...model.organizations.values()].flatMap((one) => one.users);
      const user = users.find(({ shown }) => shown.id === token.userId);
      const isGood = user?.shown.active === true && user.tokensEnded === token.tokensEnded;
      const status = user === undefined ? 404 : isGood ? 200 : 401;
      const body = isGood ? user.shown : undefined;
      checkAnswer(await app.get("/api/v1/auth/me", token.headers), { status, body });
    }),
  ];
}

/** Each of these hashes a password, which takes longer than a hundred other steps. */
function dearSteps(managed: fc.Arbitrary<View>): fc.Arbitrary<Step>[] {
  const someEmail = fc.constantFrom("new@example.com", "MEMBER@example.com", "none");
  return [
    step("createUser", fc.tuple(managed, someEmail), async ([view, email], model, { app }) => {
      const all = [...model.organizations.values()].flatMap((one) => one.users);
      const isTaken = all.some(({ shown }) => shown.email.toLowerCase() === email.toLowerCase());
      const { password } = ADMIN;
      const answer = await app.post("/api/v1/users", { email, password }, view.headers);
      checkAnswer(answer, { status: email === "none" ? 400 : isTaken ? 409 : 201 });
      if (answer.status !== 201) return;
      const { id, ...rest } = answer.body;
      const active = { active: true, organization_id: view.organization };
      assert.deepEqual(rest, { email, name: email, role: "viewer", ...active });
      organizationOf(model, view).userCreated({ shown: answer.body, password, tokensEnded: 0 });
    }),
    step(
      "signIn",
      fc.tuple(someEmail, fc.constantFrom(ADMIN.password, WRONG_PASSWORD)),
      async ([email, password], model, { app }) => {
        app.advance(61_000); // so that the throttle refuses no attempt
        const answer = await app.post("/api/v1/auth/login", { email, password });
        if (email === "none") return checkAnswer(answer, { status: 400 });
        const [organization, user] = userWith(email, model);
        const isRight = user?.shown.active === true && user.password === password;
        organization.told(isRight ? "login.succeeded" : "login.failed");
        checkAnswer(answer, { status: isRight ? 200 : 401 });
        if (!isRight) return;
        assert.deepEqual(answer.body.user, user.shown);
        const headers = { authorization: `Bearer ${answer.body.token}` };
        const { tokensEnded } = user;
        model.tokens = [...model.tokens, { headers, userId: user.shown.id, tokensEnded }];
      },
    ),
  ];
}

function userWith(email: string, model: Model) {
  for (const organization of model.organizations.values()) {
    const user = organization.users.find(
      ({ shown }) => shown.email.toLowerCase() === email.toLowerCase(),
    );
    if (user !== undefined) return [organization, user] as const;
  }
  const fallback = model.organizations.get("default");
  assert.ok(fallback);
  return [fallback, undefined] as const;
}

function timeSteps(): fc.Arbitrary<Step>[] {
  const waits = fc.constantFrom(1, 1_000, 15 * MINUTE_MS, 60 * MINUTE_MS, 24 * 60 * MINUTE_MS);
  return [
    step("wait", waits, async (ms, _, { app }) => app.advance(ms)),
    step("compare", fc.constant(""), async (_, model, { app }) => checkAll(model, app)),
    step("restart", fc.constant(""), async (_, model, { app }) => {
      await app.restart();
      await checkAll(model, app);
    }),
    step("crash", fc.constant(""), async (_, model, real) => {
      await real.crash();
      await adoptLastUses(model, real);
      await checkAll(model, real.app);
    }),
  ];
}

/** A crash may lose the last minute of the keys' last uses, and nothing else. */
async function adoptLastUses(model: Model, { app }: CrashingApp): Promise<void> {
  for (const view of model.views.filter(({ prefix }) => prefix === "/api/v1")) {
    const organization = organizationOf(model, view);
    const { api_keys } = (await app.get("/api/v1/api-keys", view.headers)).body;
    for (const { id, last_used_at } of api_keys) {
      const key = organization.keys.find(({ shown }) => shown.id === id);
      if (last_used_at === key?.shown.last_used_at) continue;
      assert.ok((last_used_at ?? "") < (key?.shown.last_used_at ?? ""));
      organization.keyUsed(id, last_used_at);
    }
  }
}
