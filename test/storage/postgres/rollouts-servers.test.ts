/** Rollouts on several servers over one database: any server assigns, and one at a time judges. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutPostgres } from "../../support/postgres.ts";
import { startThree } from "../../support/servers.ts";
import type { App } from "../../support/start.ts";

const skip = withoutPostgres;
const API = "/api/v1";
const MINUTE = 60_000;

async function until(app: App, path: string, isReached: (body: never) => boolean) {
  for (;;) {
    const { body } = await app.get(path);
    if (isReached(body as never)) return body;
  }
}

test("a step on one server is seen by all, and a gate acts once", { skip }, async (t) => {
  const servers = await startThree(t);
  const [first, second, third] = servers;
  await first.post(`${API}/policies`, { version: "v1", yaml: "a: 1" });
  await first.post(`${API}/policies`, { version: "v2", yaml: "a: 2", activate: false });
  const gates = { max_denied_increase_percent: 0 };
  const stages = [{ labels: { env: "staging" }, gates }, { percent: 100 }];
  const { body } = await second.post(`${API}/rollouts`, { version: "v2", stages });
  const path = `${API}/rollouts/${body.id}`;
  await third.post(`${API}/fleet/heartbeat`, { name: "m1", labels: { env: "staging" } });
  for (const server of servers) {
    const named = { "X-Runtime-Name": "m1" };
    assert.equal((await server.get(`${API}/policies?active=true`, named)).body.version, "v2");
    const again = await server.post(`${API}/fleet/heartbeat`, { name: "m1", policy_version: "v2" });
    assert.equal(again.body.policy_version, "v2");
  }
  const event = { command: "ls", runtime_name: "m1", policy: "v2", policy_decision: "DENIED" };
  await first.post(`${API}/audit`, { events: Array(10).fill(event) });
  for (const server of servers) server.advance(MINUTE);
  for (const server of servers) {
    await until(server, path, ({ state }: { state: string }) => state === "paused");
  }
  const refused = await third.post(`${API}/rollouts`, { version: "v2", stages });
  assert.equal(refused.status, 409);
  // Each server judges again, and finds nothing to do.
  for (const server of servers) server.advance(MINUTE);
  assert.equal((await third.post(`${path}/resume`, {})).status, 200);
  const entries = await until(
    second,
    `${API}/activity?action=rollout.breach`,
    ({ entries: found }: { entries: readonly unknown[] }) => found.length > 0,
  );
  assert.equal(entries.entries.length, 1);
  const rolledBack = await first.post(`${path}/roll_back`, {});
  assert.equal(rolledBack.body.state, "rolled_back");
  for (const server of servers) {
    const named = { "X-Runtime-Name": "m1" };
    assert.equal((await server.get(`${API}/policies?active=true`, named)).body.version, "v1");
  }
});
