/**
 * Random sequences of requests, restarts and crashes, against a model that keeps lists. A failure
 * prints the shortest failing sequence and its seed; `FUZZ_SEED=<seed> npm run fuzz -- 0
 * journeys/model` runs it again.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import type { SentHeaders } from "../support/client.ts";
import { CrashingApp } from "../support/crashing-app.ts";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../support/start.ts";
import { OrganizationModel, type User } from "../support/model.ts";
import { checkAll, type Model, type View } from "../support/model-checks.ts";
import { someStep } from "../support/model-steps.ts";

const SETTINGS = {
  ...ADMIN_SETTINGS,
  requireAuth: true,
  jwtExpiryHours: 24 * 365,
  auditSegmentBytes: 64 * 1024, // segments end within a sequence
};
const SEQUENCES = 5;

// Every sequence starts from a copy of this service: hashing passwords anew would take most of the time.
const origin = await start({ after }, SETTINGS);
const admin = await origin.asUser(ADMIN);
const other = await origin.createOrganization("Other", admin);
const members = { email: "Member@example.com", name: "m", role: "operator" };
const member = await origin.createUser(members, admin);
const memberToken = await origin.asUser({ email: member.email, password: ADMIN.password });
const views: readonly View[] = [
  viewOf("/api/public", "default", "portal-api", {}),
  viewOf("/api/v1", "default", ADMIN.email, admin),
  viewOf("/api/v1", other.id, "admin@other.example.com", other.admin),
];
const startingPoint = await Promise.all(views.slice(1).map((view) => organizationAt(origin, view)));
await origin.close();

function viewOf(
  prefix: View["prefix"],
  organization: string,
  by: string,
  headers: SentHeaders,
): View {
  return { prefix, organization, by, headers, toString: () => `${prefix} of ${organization}` };
}

async function organizationAt(app: App, { organization, headers }: View) {
  const { users } = (await app.get("/api/v1/users", headers)).body;
  const { entries } = (await app.get("/api/v1/activity", headers)).body;
  return {
    organization,
    users: users.map((shown: User["shown"]): User => ({
      shown,
      password: ADMIN.password,
      tokensEnded: 0,
    })),
    actions: entries.map(({ action }: { action: string }) => action),
  };
}

function freshModel(): Model {
  const organizations = startingPoint.map(
    ({ organization, users, actions }) => new OrganizationModel(organization, users, actions),
  );
  return {
    views,
    organizations: new Map(organizations.map((one) => [one.id, one])),
    tokens: [{ headers: memberToken, userId: member.id, tokensEnded: 0 }],
    runtimeIds: new Map(),
  };
}

test("any requests in any order have the answers of the model", async () => {
  // Without bias, which would make most sequences too short to find anything.
  const sequences = fc.noBias(fc.commands(someStep(views), { maxCommands: 150, size: "max" }));
  await fc.assert(
    fc.asyncProperty(sequences, async (steps) => {
      const real = await CrashingApp.over(origin, SETTINGS);
      const model = freshModel();
      try {
        await fc.asyncModelRun(() => ({ model, real }), steps);
        await checkAll(model, real.app);
        await real.app.restart();
        await checkAll(model, real.app);
      } finally {
        await real.end();
      }
    }),
    { numRuns: SEQUENCES, includeErrorInReport: true },
  );
});

test("the comparison finds a service with one event too many", async () => {
  const real = await CrashingApp.over(origin, SETTINGS);
  const model = freshModel();
  try {
    await checkAll(model, real.app);
    await real.app.post("/api/public/audit", { command: "ls" });
    await assert.rejects(checkAll(model, real.app), assert.AssertionError);
  } finally {
    await real.end();
  }
});
