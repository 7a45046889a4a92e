import assert from "node:assert/strict";
import { test } from "node:test";
import { Unauthenticated } from "../../src/core/errors.ts";
import { rolloutRoutes } from "../../src/rollouts/routes.ts";
import type { Rollout } from "../../src/rollouts/schema.ts";

test("a step is not taken if the credentials ended while its figures were read", async () => {
  const advance = rolloutRoutes.find(({ path }) => path === "/rollouts/{id}/advance");
  const ended = { id: "r", state: "completed", stages: [], current_stage: 1 };
  let updates = 0;
  const needs = {
    now: () => 0,
    rollouts: {
      get: async () => ended as unknown as Rollout,
      update: async () => void updates++,
    },
  };
  const client = { gone: new AbortController().signal, acceptance: () => () => false };
  const input = { organization: "default", params: { id: "r" }, body: {}, client, note: () => {} };
  const { handle } = advance as unknown as { handle: (...given: unknown[]) => Promise<unknown> };
  await assert.rejects(handle(input, needs), Unauthenticated);
  assert.equal(updates, 0);
});
