/** The engine in memory passes the same store suites as the engine in files. */
import { activityStoreSuite, type ActivityEngine } from "../activity/store-suite.ts";
import { testActivityAgainstNaive, testAgainstNaive } from "../audit/store-property.ts";
import { testAuditStore } from "../audit/store-suite.ts";
import { fleetStoreSuite, type FleetEngine } from "../fleet/store-suite.ts";
import { keyStoreSuite } from "../keys/store-suite.ts";
import { organizationStoreSuite } from "../organizations/store-suite.ts";
import { policyStoreSuite } from "../policies/store-suite.ts";
import { overrideStoreSuite, type OverrideEngine } from "../providers/store-suite.ts";
import { rolloutStoreSuite, type RolloutEngine } from "../rollouts/store-suite.ts";
import { settingsStoreSuite } from "../settings/store-suite.ts";
import { userStoreSuite } from "../users/store-suite.ts";
import {
  MemoryActivity,
  MemoryKeys,
  MemoryOrganizations,
  MemoryOverrides,
  MemorySettings,
  MemoryUsers,
} from "./memory-access.ts";
import { MemoryAudit } from "./memory-audit.ts";
import { MemoryFleet } from "./memory-fleet.ts";
import { MemoryPolicies } from "./memory-policies.ts";
import { MemoryRollouts } from "./memory-rollouts.ts";

/** Memory outlives the store: reopening a place returns the same store. */
function reopened<Store>(store: Store): { store: Store; reopen(): Promise<never> } {
  const engine = { store, reopen: async () => engine };
  return engine as { store: Store; reopen(): Promise<never> };
}

const auditEngine = async () => {
  const store = new MemoryAudit();
  return { store, restart: async () => store };
};

testAuditStore(auditEngine);
testAgainstNaive(auditEngine);
testActivityAgainstNaive(auditEngine);
policyStoreSuite(async () => new MemoryPolicies());
fleetStoreSuite("memory", async (): Promise<FleetEngine> => reopened(new MemoryFleet()));
keyStoreSuite(async () => new MemoryKeys());
userStoreSuite(async () => new MemoryUsers());
organizationStoreSuite(async () => {
  const users = new MemoryUsers();
  return { users, organizations: new MemoryOrganizations(users, 0) };
});
settingsStoreSuite(async () => new MemorySettings());
overrideStoreSuite("memory", async (): Promise<OverrideEngine> => reopened(new MemoryOverrides()));
rolloutStoreSuite("memory", async () => {
  const policies = new MemoryPolicies();
  const engine: RolloutEngine = {
    ...{ policies, rollouts: new MemoryRollouts(policies) },
    reopen: async () => engine,
  };
  return engine;
});
activityStoreSuite("memory", async (): Promise<ActivityEngine> => reopened(new MemoryActivity()));
