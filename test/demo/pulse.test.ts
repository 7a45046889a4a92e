import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEvent } from "../../src/audit/schema.ts";
import { readShippedCatalog } from "../../src/catalog/source.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/core/clock.ts";
import { createCommands } from "../../src/demo/commands.ts";
import { POLICY_TEXTS } from "../../src/demo/policy-history.ts";
import { Pulse } from "../../src/demo/pulse.ts";
import { createTraffic } from "../../src/demo/traffic.ts";
import type { Policy } from "../../src/policies/schema.ts";
import { MemoryFleet } from "../support/memory-fleet.ts";

const NOON = Date.parse("2026-11-20T12:00:00Z");
const traffic = createTraffic(createCommands((await readShippedCatalog()).capabilities), 1);

/** A pulse over stores in memory, with a policy that can be replaced. */
function startPulse() {
  const events: AuditEvent[] = [];
  const fleet = new MemoryFleet();
  let now = NOON;
  let active = { version: "v7", yaml: POLICY_TEXTS.get("v7") } as Policy;
  const candidates = new Map<string, Policy>();
  const pulse = new Pulse({
    organization: "default",
    assignments: { candidate: (_, runtime) => candidates.get(runtime) },
    policies: { active: () => active },
    fleet,
    audit: {
      append(_, added, stored) {
        events.push(...added);
        stored(undefined);
      },
    },
    traffic,
    now: () => now,
    seededAt: NOON - HOUR_MS,
  });
  return {
    ...{ events, fleet, pulse, candidates },
    publish: (version: string, yaml: string) => (active = { version, yaml } as Policy),
    /** Beats every five seconds for a time. */
    async live(ms: number): Promise<readonly AuditEvent[]> {
      const from = events.length;
      for (const end = now + ms; now < end;) {
        now += 5 * SECOND_MS;
        await pulse.beat();
      }
      return events.slice(from);
    },
    sleep: (ms: number) => (now += ms),
    now: () => now,
  };
}

test("within a minute every machine in use has sent a heartbeat, and commands continue", async () => {
  const demo = startPulse();
  const events = await demo.live(10 * MINUTE_MS);
  assert.ok(events.length > 10 && events.length < 400, String(events.length));
  const times = events.map(({ timestamp }) => Date.parse(timestamp));
  assert.ok(Math.min(...times) > NOON && Math.max(...times) <= demo.now());
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
  for (const name of ["runner-eu-1", "laptop-ada", "agent-incidents-2"]) {
    const seen = demo.fleet.get("default", name)?.last_seen ?? 0;
    assert.ok(demo.now() - seen <= MINUTE_MS, name);
  }
  assert.equal(demo.fleet.get("default", "laptop-hannah"), undefined); // it is night there
  assert.equal(demo.fleet.get("default", "runner-eu-0"), undefined); // the machine is no longer used
});

test("beats of any length report the same events", async () => {
  const often = await startPulse().live(5 * MINUTE_MS);
  const once = startPulse();
  once.sleep(5 * MINUTE_MS);
  await once.pulse.beat();
  const ids = (events: readonly AuditEvent[]) => events.map(({ id }) => id).sort();
  assert.deepEqual(ids(often), ids(once.events));
});

test("a visitor's policy reaches the fleet within a minute, except the machines that no longer fetch", async () => {
  const demo = startPulse();
  const nothing =
    "schema: signalbox/policy/v1\ndefault: deny\nrules:\n" +
    "  - { id: closed, effect: deny, reason: We are closed, match: {} }\n";
  demo.publish("closed", nothing);
  await demo.live(MINUTE_MS);
  assert.equal(demo.fleet.get("default", "runner-eu-1")?.policy_version, "closed");
  assert.equal(demo.fleet.get("default", "runner-us-3")?.policy_version, "v4");
  const later = (await demo.live(20 * MINUTE_MS)).filter(({ policy }) => policy === "closed");
  assert.ok(later.length > 5);
  for (const event of later) {
    assert.equal(event.policy_decision, "DENIED");
    assert.equal(event.reason, "We are closed");
  }
});

test("a machine fetches, reports and decides by the version of a rollout while it has it", async () => {
  const demo = startPulse();
  await demo.live(MINUTE_MS);
  const yaml = "schema: signalbox/policy/v1\ndefault: deny\nrules: []\n";
  demo.candidates.set("runner-eu-1", { version: "v8", yaml } as Policy);
  const events = await demo.live(2 * HOUR_MS);
  const versionOf = (name: string) => demo.fleet.get("default", name)?.policy_version;
  assert.deepEqual([versionOf("runner-eu-1"), versionOf("runner-eu-2")], ["v8", "v7"]);
  const decided = events.filter(({ policy }) => policy === "v8");
  assert.ok(decided.length > 0);
  assert.ok(decided.every((event) => event.runtime_name === "runner-eu-1"));
  demo.candidates.clear();
  await demo.live(MINUTE_MS);
  assert.equal(versionOf("runner-eu-1"), "v7");
});

test("the machines of each environment have its label", async () => {
  const demo = startPulse();
  await demo.live(MINUTE_MS);
  const labelsOf = (name: string) => demo.fleet.get("default", name)?.labels;
  assert.deepEqual(labelsOf("runner-us-1"), { env: "staging", team: "delivery" });
  assert.deepEqual(labelsOf("agent-incidents-2"), { env: "staging", team: "platform" });
  assert.deepEqual(labelsOf("laptop-ada"), { env: "office" });
});

test("machines keep their copy of the policy if they cannot read the active one", async () => {
  const demo = startPulse();
  await demo.live(MINUTE_MS);
  demo.publish("foreign", "rules: [of, another, kind]\n");
  const events = await demo.live(20 * MINUTE_MS);
  assert.equal(demo.fleet.get("default", "runner-eu-1")?.policy_version, "v7");
  assert.ok(events.length > 0 && events.every(({ policy }) => policy !== "foreign"));
});

test("after a long sleep only the last ten minutes are reported", async () => {
  const demo = startPulse();
  demo.sleep(6 * HOUR_MS);
  await demo.pulse.beat();
  const oldest = Math.min(...demo.events.map(({ timestamp }) => Date.parse(timestamp)));
  assert.ok(demo.events.length > 0);
  assert.ok(demo.now() - oldest <= 10 * MINUTE_MS);
});
