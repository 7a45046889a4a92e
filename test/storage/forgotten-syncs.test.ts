/**
 * Checks that a missing sync would be noticed. The tests that stop the service between its steps run on a
 * disk on which one kind of sync does nothing: they must find a loss.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { append, auditEventOf } from "../audit/store-suite.ts";
import {
  checkRemains,
  recordCuts,
  sightsOf,
  type Scenario,
  type Sights,
} from "../support/cut-points.ts";
import { ForgetfulFiles } from "../support/forgetful-files.ts";
import { foldingFleet, wholeService } from "./stores-work.ts";

type Forgotten = ForgetfulFiles["forgottenSync"];

const HOME = "/data/organizations/default";

/** The syncs of a temporary file that is about to replace the file of that name. */
const aside =
  (name: string): Forgotten =>
  (path) =>
    path.endsWith(".tmp") && path.includes(`/${name}.`);

const directory =
  (name: string): Forgotten =>
  (path) =>
    path === name;

const log =
  (name: RegExp, wanted: "fsync" | "fdatasync"): Forgotten =>
  (path, operation) =>
    operation === wanted && name.test(path);

const serviceSights = sightsOf(wholeService);
const fleetSights = sightsOf(foldingFleet);

/** Runs a scenario without some syncs; returns the first loss that is found. */
async function firstLoss<S>(
  scenario: Scenario<S>,
  sights: Promise<Sights>,
  forgotten: Forgotten,
  at: Parameters<typeof recordCuts>[2] = "every answer",
): Promise<Error | undefined> {
  const careless: Scenario<S> = {
    ...scenario,
    open(files) {
      files.forgottenSync = forgotten;
      return scenario.open(files);
    },
  };
  for (const remains of await recordCuts(careless, new ForgetfulFiles(), at)) {
    try {
      await checkRemains(careless, await sights, remains, false);
    } catch (error) {
      return error as Error;
    }
  }
  return undefined;
}

const SERVICE: Readonly<Record<string, Forgotten>> = {
  "the audit log's data": log(/\/audit\/\d+\.jsonl$/, "fdatasync"),
  "the activity log's data": log(/\/activity\.jsonl$/, "fdatasync"),
  "the fleet log's data": log(/\/fleet\.jsonl$/, "fdatasync"),
  "format.json": aside("format.json"),
  "the lock": aside("lock"),
  "organization.json": aside("organization.json"),
  "users.json": aside("users.json"),
  "api-keys.json": aside("api-keys.json"),
  "settings.json": aside("settings.json"),
  "providers.json": aside("providers.json"),
  "the policies' index": aside("index.json"),
  "a policy's text": (path) => path.endsWith(".yaml"),
  "a policy's record": (path) => /\/policies\/.*-[0-9a-f]{32}\.json$/.test(path),
  "the directory above the data directory": directory("/"),
  "the data directory": directory("/data"),
  "the organizations' directory": directory("/data/organizations"),
  "an organization's directory": directory(HOME),
  "the policies' directory": directory(`${HOME}/policies`),
  "the audit log's directory": directory(`${HOME}/audit`),
};

for (const [what, forgotten] of Object.entries(SERVICE)) {
  test(`without syncing ${what} something is lost`, async () => {
    const loss = await firstLoss(wholeService, serviceSights, forgotten);
    assert.ok(loss, "Nothing was");
  });
}

const FLEET: Readonly<Record<string, Forgotten>> = {
  "the log's data": log(/\.jsonl$/, "fdatasync"),
  "the snapshot": (path) => path.endsWith(".tmp"),
  "their directory": directory(HOME),
};

for (const [what, forgotten] of Object.entries(FLEET)) {
  test(`without syncing ${what} a part of a fleet is lost`, async () => {
    const loss = await firstLoss(foldingFleet, fleetSights, forgotten);
    assert.ok(loss, "Nothing was");
  });
}

test("without syncing the files of a killed server, runtimes that were shown are lost", async () => {
  const forgotten = log(/\.jsonl$/, "fsync");
  assert.ok(await firstLoss(foldingFleet, fleetSights, forgotten, "every change"), "Nothing was");
});

test("an event that a killed server left is on disk before it is answered as known", async () => {
  const keptEvents = async (forgotten: Forgotten) => {
    const event = auditEventOf({ organization_id: "default" });
    const files = new ForgetfulFiles();
    const stores = await wholeService.open(files);
    await stores.audit.usage("default");
    files.held = []; // the write is done, the sync is not
    void append(stores.audit, [event], "default");
    while (files.held.length === 0) await turn();
    const left = files.afterKill();
    left.forgottenSync = forgotten;
    await wholeService.bury(left);
    await append((await wholeService.open(left)).audit, [event], "default");
    const found = left.powerCut(() => 0);
    await wholeService.bury(found);
    return (await (await wholeService.open(found)).audit.usage("default")).events;
  };
  assert.equal(await keptEvents(() => false), 1);
  assert.equal(await keptEvents(log(/\/audit\/\d+\.jsonl$/, "fsync")), 0);
});

test("the secret that signs tokens outlives a power cut, and would not if it were not synced", async () => {
  const cutAfterFirstStart = async (forgotten: Forgotten) => {
    const files = new ForgetfulFiles();
    files.forgottenSync = forgotten;
    const { secret } = await wholeService.open(files);
    const left = files.powerCut((limit, of) => (of === "names" ? limit : 0));
    await wholeService.bury(left);
    return { secret, left };
  };
  const { secret, left } = await cutAfterFirstStart(() => false);
  assert.equal((await wholeService.open(left)).secret, secret);
  const { left: forgetful } = await cutAfterFirstStart(aside("secret"));
  await assert.rejects(wholeService.open(forgetful), /secret is damaged \(it is empty\)/);
});

test("without syncing the indexes of the audit log nothing is lost: they are rebuilt", async () => {
  assert.equal(
    await firstLoss(wholeService, serviceSights, (path) => /\.idx\./.test(path)),
    undefined,
  );
});
