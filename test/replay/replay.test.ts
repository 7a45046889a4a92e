import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../src/core/clock.ts";
import { Unauthenticated } from "../../src/core/errors.ts";
import { Turns } from "../../src/core/scheduling/turns.ts";
import type { Policy } from "../../src/policies/schema.ts";
import { publishRoutes } from "../../src/replay/publish-routes.ts";
import {
  beginReplay,
  LARGE_LENGTH,
  type Replay,
  REPLAYS,
  type ReplayNeeds,
} from "../../src/replay/replay.ts";

const OPEN = "schema: signalbox/policy/v1\ndefault: allow\nrules: []\n";

test("a replay whose client leaves while a version is read starts no thread", async () => {
  const replays = new Turns(REPLAYS);
  const leaving = new AbortController();
  let exports = 0;
  const needs: ReplayNeeds = {
    audit: {
      export: async () => {
        exports++;
        throw new Error("nothing to read here");
      },
    },
    policies: {
      active: () => undefined,
      get: async () => {
        leaving.abort(new Error("left"));
        return { yaml: OPEN, version: "v1" } as Policy;
      },
    },
    replays,
    now: () => 0,
  };
  const client = { party: ["public", "default", "a"], gone: leaving.signal, isAllowed: () => true };
  await assert.rejects(beginReplay(needs, client, "default", { version: "v1" }), /left/);
  assert.equal(exports, 0, "the thread has read no document");
  await turn();
  (await replays.wait(client.party))(); // the turn has ended
});

test("a replay whose credentials end while it waits for its turn does not begin", async () => {
  const replays = new Turns(REPLAYS);
  const party = ["v1", "default", "a"];
  const endOther = await replays.wait(party);
  const needs: ReplayNeeds = {
    audit: { export: () => assert.fail("nothing is read") },
    policies: { active: () => undefined, get: () => assert.fail("nothing is read") },
    replays,
    now: () => 0,
  };
  const gone = new AbortController().signal;
  const recheck = (): Promise<void> => Promise.reject(new Unauthenticated("It was revoked"));
  const client = { party, gone, isAllowed: () => true, recheck };
  const waiting = beginReplay(needs, client, "default", { version: "v1" });
  endOther();
  await assert.rejects(waiting, /It was revoked/);
  await turn();
  (await replays.wait(party))(); // the turn has ended
});

/** The services of a replay of one event, which calls `onRead` before the event is read. */
function needsOf(command: string, now: Clock, onRead = (): void => {}): ReplayNeeds {
  return {
    audit: {
      async export() {
        const rows = async function* () {
          onRead();
          yield Buffer.from(`${JSON.stringify({ command, policy_decision: "DENIED" })}\n`);
        };
        return { total: 1, rows: Object.assign(rows(), { close: () => {} }) };
      },
    },
    policies: { active: () => undefined, get: async () => undefined },
    replays: new Turns(REPLAYS),
    now,
  };
}

test("a replay whose credentials end while its last events are decided gives no report", async () => {
  let now = 0;
  const needs = needsOf("ls", () => now);
  const party = ["v1", "default", "a"];
  const client = { party, gone: new AbortController().signal, isAllowed: () => false };
  const replay = await beginReplay(needs, client, "default", { yaml: OPEN });
  const decided = (): void => void (now += 15_000);
  await assert.rejects(replay.run(decided), /no longer accepted/);
});

test("a replay of a long document waits for another one, and a short one does not", async () => {
  const begun: string[] = [];
  const begin = async (who: string, yaml: string): Promise<Replay> => {
    const client = { party: [who], gone: new AbortController().signal, isAllowed: () => true };
    const replay = await beginReplay(needsOf("ls", Date.now), client, "default", { yaml });
    begun.push(who);
    return replay;
  };
  const long = `${OPEN}# ${"x".repeat(LARGE_LENGTH)}\n`;
  const first = await begin("first", long);
  const second = begin("second", long);
  (await begin("short", OPEN)).close();
  assert.deepEqual(begun, ["first", "short"]);
  first.close();
  (await second).close();
  assert.deepEqual(begun, ["first", "short", "second"]);
});

test("a version is not stored if the credentials ended while it was checked", async () => {
  const [publish] = publishRoutes;
  let published = 0;
  const party = ["v1", "default", "a"];
  const { signal: gone } = new AbortController();
  const client = { party, gone, recheck: () => {}, acceptance: () => () => false };
  const input = {
    ...{ organization: "default", surface: "v1", actor: undefined, client, note: () => {} },
    body: { yaml: OPEN, version: "v1" },
  };
  const needs = {
    policies: { activeVersion: () => "", publish: async () => void published++ },
    quotas: { policyVersions: () => undefined },
    now: () => 0,
  };
  const { handle } = publish as unknown as { handle: (...given: unknown[]) => Promise<unknown> };
  await assert.rejects(handle(input, needs), /The credentials ended/);
  assert.equal(published, 0);
});

test("a replay whose client has left hands no events to the replay that has its thread now", async () => {
  let now = 0;
  const leaving = new AbortController();
  const party = ["v1", "default", "a"];
  const staying = { party, gone: new AbortController().signal, isAllowed: () => true };
  let next: Replay | undefined;
  const isAllowed = async (): Promise<boolean> => {
    leaving.abort(new Error("left"));
    const needs = needsOf("of the next", () => now);
    next = await beginReplay(needs, staying, "another", { yaml: OPEN });
    return true;
  };
  const left = { party, gone: leaving.signal, isAllowed };
  const checkDue = (): void => void (now += 15_000);
  const needs = needsOf("of the first", () => now, checkDue);
  const first = await beginReplay(needs, left, "one", { yaml: OPEN });
  await assert.rejects(first.run(), /left/);
  const { report } = (await next?.run()) ?? {};
  const { evaluated } = JSON.parse(Buffer.from(report ?? "{}").toString()) as { evaluated: number };
  assert.equal(evaluated, 1);
});
