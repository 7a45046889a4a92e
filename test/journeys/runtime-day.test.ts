import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../support/start.ts";
import type { SentHeaders } from "../support/client.ts";
import { SURFACES, type Prefix } from "../support/surfaces.ts";

const MINUTE = 60_000;
const V1 = `schema: signalbox/policy/v1
default: allow
rules:
  - { id: no-deletes, effect: deny, reason: deletions are closed, match: { commands: [{ glob: "* delete *" }] } }
`;
const V2 = "schema: signalbox/policy/v1\ndefault: deny\nrules: []\n";

/** A minimal runtime: it keeps a copy of the policy, and the events that it could not report. */
class Runtime {
  readonly #app: App;
  readonly #prefix: Prefix;
  readonly #headers: SentHeaders;
  policy = { version: "", yaml: "" };
  #tag = "";
  reported = 0;

  constructor(app: App, prefix: Prefix, headers: SentHeaders) {
    this.#app = app;
    this.#prefix = prefix;
    this.#headers = { ...headers, "X-Runtime-Client": "runtime/1.0" };
  }

  /** Fetches the policy if there is a newer one, and returns the status. */
  async sync(): Promise<number> {
    const headers = { ...this.#headers, "If-None-Match": this.#tag };
    const answer = await this.#app.get(`${this.#prefix}/policies?active=true`, headers);
    if (answer.status === 200) {
      this.policy = answer.body;
      this.#tag = answer.headers.get("etag") ?? "";
    }
    return answer.status;
  }

  async beat(): Promise<void> {
    const body = { name: "day-runtime", os: "linux", policy_version: this.policy.version };
    const answer = await this.#app.post(`${this.#prefix}/fleet/heartbeat`, body, this.#headers);
    assert.equal(answer.status, 200);
  }

  /** Reports commands one by one, or several in one batch. */
  async report(count: number, inBatches: number): Promise<void> {
    for (let left = count; left > 0; left -= inBatches) {
      const events = Array.from({ length: Math.min(left, inBatches) }, () => this.#event());
      const body = inBatches === 1 ? events[0] : { events };
      const answer = await this.#app.post(`${this.#prefix}/audit`, body, this.#headers);
      assert.equal(answer.status, 202, answer.text);
    }
  }

  #event(): object {
    const n = this.reported++;
    const isDenied = n % 10 === 0;
    return {
      id: `event-${n}`,
      timestamp: new Date(this.#app.now - n).toISOString(),
      command: isDenied ? `kubectl delete pod web-${n}` : `kubectl get pod web-${n}`,
      user: "ada",
      decision: isDenied ? "denied" : "allowed",
      policyVersion: this.policy.version,
      runtimeName: "day-runtime",
      durationMs: n,
    };
  }
}

const DAYS: readonly (readonly [Prefix, boolean])[] = [
  ...SURFACES.map((prefix) => [prefix, false] as const),
  ...SURFACES.map((prefix) => [prefix, true] as const),
];

for (const [prefix, requireAuth] of DAYS) {
  test(`a runtime's day on ${prefix}, credentials required: ${requireAuth}`, async (t) => {
    const app = await start(t, { ...ADMIN_SETTINGS, requireAuth });
    const isClosed = requireAuth && prefix === "/api/v1";
    const admin: SentHeaders = isClosed ? await app.asUser(ADMIN) : {};
    const key: SentHeaders = isClosed ? (await app.createKey("runtime", admin)).key : {};
    const runtime = new Runtime(app, prefix, key);
    const publish = (version: string, yaml: string) =>
      app.post(`${prefix}/policies`, { version, yaml }, admin);

    assert.equal(await runtime.sync(), 404);
    assert.equal((await publish("v1", V1)).status, 201);
    const register = () => app.post(`${prefix}/runtime/register`, { name: "day-runtime" }, key);
    const registered = await register();
    assert.equal(registered.status, 201);
    assert.equal(await runtime.sync(), 200);
    assert.equal(runtime.policy.yaml, V1);
    assert.equal(await runtime.sync(), 304);
    await runtime.beat();
    await runtime.report(100, 1);
    await runtime.report(400, 80);

    app.advance(20 * MINUTE);
    await app.restart();
    const [asleep] = (await app.get(`${prefix}/fleet`, admin)).body.runtimes;
    assert.deepEqual([asleep.status, asleep.policy_version], ["idle", "v1"]);
    assert.equal((await register()).status, 200);
    assert.deepEqual((await register()).body, registered.body);
    assert.equal(await runtime.sync(), 304, "a restart changes no tag");

    assert.equal((await publish("v2", V2)).status, 201);
    assert.equal(await runtime.sync(), 200);
    assert.equal(runtime.policy.version, "v2");
    await runtime.report(200, 100);
    const back = await app.post(`${prefix}/policies/v1/activate`, {}, admin);
    assert.equal(back.status, 200);
    assert.equal(await runtime.sync(), 200);
    assert.deepEqual([runtime.policy.version, runtime.policy.yaml], ["v1", V1]);
    await runtime.report(300, 299);
    await runtime.beat();
    await app.restart();

    const page = (query: string) => app.get(`${prefix}/audit?${query}`, key);
    const { body } = await page("limit=1000");
    assert.equal(body.total, 1000);
    const ids = new Set(body.events.map(({ id }: { id: string }) => id));
    assert.equal(ids.size, 1000);
    assert.equal((await page("decision=denied&limit=1")).body.total, 100);
    assert.equal((await page("q=DELETE&limit=1")).body.total, 100);
    for (const version of ["v1", "v2"]) {
      const policy = await app.get(`${prefix}/policies/${version}`, key);
      assert.equal(policy.status, 200, "what events name stays resolvable");
      assert.ok(body.events.some((event: { policy: string }) => event.policy === version));
    }
    const dashboard = (await app.get(`${prefix}/dashboard`, admin)).body;
    assert.deepEqual(
      [dashboard.commands_today, dashboard.denied_today, dashboard.policy_version],
      [1000, 100, "v1"],
    );
    assert.deepEqual([dashboard.runtimes_online, dashboard.runtimes_total], [1, 1]);

    // Events may be sent twice: after a cut the runtime cannot know which ones arrived.
    const again = await app.post(`${prefix}/audit`, { events: body.events.slice(0, 500) }, key);
    assert.equal(again.body.accepted, 500);
    assert.deepEqual(again.body.events, body.events.slice(0, 500));
    assert.equal((await page("limit=1")).body.total, 1000);
  });
}

test("with the switch on and the public surface off, a runtime needs its key", async (t) => {
  let isRequired = false;
  const app = await start(t, {
    ...ADMIN_SETTINGS,
    publicSurface: "off",
    requireAuth: () => isRequired,
  });
  const runtime = new Runtime(app, "/api/v1", {});
  await app.post("/api/v1/policies", { version: "v1", yaml: V1 });
  assert.equal(await runtime.sync(), 200);
  isRequired = true;
  assert.equal(await runtime.sync(), 401);
  const { key } = await app.createKey("late", await app.asUser(ADMIN));
  assert.equal(await new Runtime(app, "/api/v1", key).sync(), 200);
  isRequired = false;
  assert.equal(await runtime.sync(), 304);
  assert.equal((await app.get("/api/public/policies?active=true")).status, 404);
});
