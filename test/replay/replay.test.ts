import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Turns } from "../../src/core/turns.ts";
import type { Policy } from "../../src/policies/schema.ts";
import { publishRoutes } from "../../src/replay/publish-routes.ts";
import { beginReplay, REPLAYS, type ReplayNeeds } from "../../src/replay/replay.ts";

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

test("a version is not stored if the credentials ended while it was checked", async () => {
  const [publish] = publishRoutes;
  let published = 0;
  const party = ["v1", "default", "a"];
  const client = { party, gone: new AbortController().signal, acceptance: () => () => false };
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
