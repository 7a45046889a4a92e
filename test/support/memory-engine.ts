import { RecordedChanges } from "../../src/activity/unit-of-work.ts";
import type { Engine, EngineParts, Stores } from "../../src/engine.ts";
import { MemoryAudit } from "./memory-audit.ts";
import {
  MemoryActivity,
  MemoryKeys,
  MemoryOrganizations,
  MemoryOverrides,
  MemorySettings,
  MemoryUsers,
} from "./memory-access.ts";
import { MemoryFleet } from "./memory-fleet.ts";
import { MemoryPolicies } from "./memory-policies.ts";
import { MemoryRollouts } from "./memory-rollouts.ts";

/**
 * Makes an engine that keeps everything in memory: the second implementation of the engine interface,
 * which shares no file and no index with the first. Opening it again after a close finds the same data.
 */
export function memoryEngine(): (parts: EngineParts) => Promise<Engine> {
  let kept: Kept | undefined;
  let catalog: string | undefined;
  return async ({ now }) => {
    const { fleet, audit, ...stores } = (kept ??= keptSince(now()));
    const all: Stores = { ...stores, fleet, audit };
    return {
      stores: all,
      secret: "the secret of an engine in memory, of more than 32 bytes",
      catalogCopy: {
        read: async () => catalog,
        write: async (text) => void (catalog = text),
      },
      commit: new RecordedChanges(all).commit,
      health: () => ({ unwritable: [], isDegraded: false }),
      figures: () => ({
        organizations: stores.organizations.list().length,
        fleet: fleet.totals(now()),
        audit: { ...audit.counts, pending: 0, pendingBytes: 0 },
      }),
      close: async () => {},
    };
  };
}

type Kept = ReturnType<typeof keptSince>;

function keptSince(now: number) {
  const users = new MemoryUsers();
  const policies = new MemoryPolicies();
  return {
    organizations: new MemoryOrganizations(users, now),
    users,
    keys: new MemoryKeys(),
    settings: new MemorySettings(),
    overrides: new MemoryOverrides(),
    policies,
    rollouts: new MemoryRollouts(policies),
    fleet: new MemoryFleet(),
    audit: new MemoryAudit(),
    activity: new MemoryActivity(),
  };
}
