import assert from "node:assert/strict";
import { test } from "node:test";
import { readShippedCatalog } from "../../src/catalog/source.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/core/clock.ts";
import { openDemo } from "../../src/demo/demo.ts";
import { until } from "../http/serve.ts";
import { MemoryActivity } from "../support/memory-access.ts";
import { MemoryAudit } from "../support/memory-audit.ts";
import { MemoryFleet } from "../support/memory-fleet.ts";
import { MemoryPolicies } from "../support/memory-policies.ts";
import { silent } from "../support/silent-log.ts";

class TrimmedAudit extends MemoryAudit {
  trims = 0;

  override trim(...asked: Parameters<MemoryAudit["trim"]>): ReturnType<MemoryAudit["trim"]> {
    this.trims++;
    return super.trim(...asked);
  }
}

test("old events are removed while a report waits for a policy", async () => {
  const audit = new TrimmedAudit();
  let now = Date.parse("2026-11-20T12:00:00Z");
  let answer: (() => void) | undefined;
  const demo = await openDemo({
    organization: "default",
    stores: {
      ...{ audit, policies: new MemoryPolicies() },
      ...{ fleet: new MemoryFleet(), activity: new MemoryActivity() },
    },
    assignments: {
      candidate: () => new Promise((resolve) => (answer = () => resolve(undefined))),
    },
    state: { found: { seededAt: now - HOUR_MS }, markSeeded: async () => {} },
    capabilities: (await readShippedCatalog()).capabilities,
    now: () => now,
    log: silent,
  });
  now += MINUTE_MS;
  let isOver = false;
  void demo.beat().then(() => (isOver = true));
  await until(() => answer !== undefined);
  void demo.beat();
  for (let i = 0; i < 10; i++) await new Promise(setImmediate);
  assert.equal(audit.trims, 2);
  assert.equal(isOver, false);
  await until(() => {
    answer?.(); // each machine asks
    return isOver;
  });
  await demo.close();
});
