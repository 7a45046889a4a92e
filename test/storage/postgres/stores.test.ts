/** The stores in PostgreSQL keep every promise of the stores: the same suites as the files. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { activityOver, ActivityWriter } from "../../../src/storage/postgres/activity.ts";
import type { Database } from "../../../src/storage/postgres/database.ts";
import { fleetOver } from "../../../src/storage/postgres/fleet.ts";
import { FleetReports } from "../../../src/storage/postgres/fleet-reports.ts";
import { KeyUses, keysOver } from "../../../src/storage/postgres/keys.ts";
import { organizationsOver } from "../../../src/storage/postgres/organizations.ts";
import { KnownPolicies } from "../../../src/storage/postgres/known-policies.ts";
import { policiesOver } from "../../../src/storage/postgres/policies.ts";
import { overridesOver } from "../../../src/storage/postgres/providers.ts";
import { plainSession, type Session } from "../../../src/storage/postgres/session.ts";
import { KnownRollouts, rolloutsOver } from "../../../src/storage/postgres/rollouts.ts";
import { settingsOver } from "../../../src/storage/postgres/settings.ts";
import { usersOver } from "../../../src/storage/postgres/users.ts";
import { activityStoreSuite, type ActivityEngine } from "../../activity/store-suite.ts";
import { fleetStoreSuite, type FleetEngine } from "../../fleet/store-suite.ts";
import { keyStoreSuite } from "../../keys/store-suite.ts";
import { organizationStoreSuite } from "../../organizations/store-suite.ts";
import { draftOf, policyStoreSuite } from "../../policies/store-suite.ts";
import { overrideStoreSuite, type OverrideEngine } from "../../providers/store-suite.ts";
import { rolloutOf, rolloutStoreSuite } from "../../rollouts/store-suite.ts";
import { settingsStoreSuite } from "../../settings/store-suite.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { userStoreSuite } from "../../users/store-suite.ts";
import { silent as log } from "../../support/silent-log.ts";

/** Opens a new database that knows the organizations of the suites. */
async function open(
  ids: readonly string[] = ["default", "acme", "globex"],
): Promise<{ readonly database: Database; readonly session: Session }> {
  const database = await openDatabase(await createDatabase(), 4);
  await database.run(
    `INSERT INTO organizations (id, name, created_at, updated_at)
     SELECT id, id, '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z' FROM unnest($1::text[]) AS id`,
    [ids],
  );
  return { database, session: plainSession(database) };
}
/** A store over a database, and the same over a new one of the store's own. */
function reopening<Store>(store: () => Store): { store: Store; reopen(): Promise<never> } {
  return { store: store(), reopen: async () => reopening(store) as never };
}

if (withoutPostgres) {
  test("the stores in PostgreSQL", { skip: withoutPostgres }, () => {});
} else {
  policyStoreSuite(async () => policiesOver((await open()).session, new KnownPolicies()));
  userStoreSuite(async () => usersOver((await open()).session));
  settingsStoreSuite(async () => settingsOver((await open()).session));
  organizationStoreSuite(async () => {
    const { session } = await open(["default"]);
    return { users: usersOver(session), organizations: organizationsOver(session) };
  });
  keyStoreSuite(async () => {
    const { database, session } = await open();
    return keysOver(session, new KeyUses(database, log));
  });
  overrideStoreSuite("postgres", async (): Promise<OverrideEngine> => {
    const { session } = await open();
    return reopening(() => overridesOver(session));
  });
  rolloutStoreSuite("postgres", async () => {
    const { session } = await open();
    const policies = policiesOver(session, new KnownPolicies());
    const opened = () => ({
      policies,
      rollouts: rolloutsOver(session, new KnownRollouts()),
      reopen: async () => opened(),
    });
    return opened();
  });
  test("after the loss of a publish, another one under its name is served", async () => {
    const { database, session } = await open();
    const [policies, others] = [1, 2].map(() => policiesOver(session, new KnownPolicies()));
    assert.ok(policies && others);
    await policies.publish("acme", draftOf("v1", "a: 1"));
    assert.equal((await policies.active("acme"))?.yaml, "a: 1");
    await database.run("DELETE FROM policy_versions");
    await database.run("UPDATE organizations SET active_version = ''");
    await others.publish("acme", draftOf("v1", "a: 2", 1));
    assert.equal((await policies.active("acme"))?.yaml, "a: 2");
  });
  test("a damaged rollout is named with the way out, and holds up no other organization", async () => {
    const { database, session } = await open();
    const rollouts = rolloutsOver(session, new KnownRollouts());
    await rollouts.create("acme", rolloutOf("r1"));
    for (const [document, fault] of [
      ['{"id":"r2","state":"running"}', "version: required"],
      ['{"id":', ".*JSON.*"],
    ]) {
      await database.run("DELETE FROM rollouts WHERE organization_id = 'default'");
      await database.run(
        `INSERT INTO rollouts (organization_id, id, is_open, document) VALUES ('default', 'r2', true, $1)`,
        [document],
      );
      const named = new RegExp(
        `^Error: Rollout "r2" of "default" in the table rollouts is damaged \\(${fault}\\): restore the database from a backup, or delete the row$`,
      );
      await assert.rejects(async () => rollouts.list("default"), named);
      await assert.rejects(async () => rollouts.get("default", "r2"), named);
      await assert.rejects(async () => rollouts.expected("default"), named);
      await assert.rejects(
        rollouts.update("default", "r2", (one) => one),
        named,
      );
      assert.equal((await rollouts.expected("acme")).active, "");
      if (fault === "version: required") assert.equal((await rollouts.open()).length, 2);
    }
  });
  activityStoreSuite("postgres", async (): Promise<ActivityEngine> => {
    const { database, session } = await open();
    return reopening(() => activityOver(database, session, new ActivityWriter(database), log));
  });
  fleetStoreSuite("postgres", async (): Promise<FleetEngine> => {
    const { database, session } = await open();
    return reopening(() => fleetOver(database, session, new FleetReports(database), log));
  });
}
