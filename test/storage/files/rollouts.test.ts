import assert from "node:assert/strict";
import { test } from "node:test";
import { FilePolicies } from "../../../src/storage/files/policies.ts";
import { FileRollouts } from "../../../src/storage/files/rollouts.ts";
import { isOrganizationId, Layout } from "../../../src/storage/layout.ts";
import { systemError, type ForgetfulFiles } from "../../support/forgetful-files.ts";
import { rolloutOf, rolloutStoreSuite, type RolloutEngine } from "../../rollouts/store-suite.ts";
import { newFiles } from "./fleet-engine.ts";

const layout = new Layout("/data");
const { directory, rollouts: path } = layout.organization("default");

async function engineOver(files: ForgetfulFiles): Promise<RolloutEngine> {
  const names = await files.readDirectory(layout.organizations).catch(() => []);
  const ids = names.filter(isOrganizationId);
  const policies = await FilePolicies.open(files, layout, ids);
  const active = (organization: string): string => policies.activeVersion(organization);
  const rollouts = await FileRollouts.open(files, layout, ids, active);
  return { policies, rollouts, reopen: () => engineOver(files.restarted()) };
}

rolloutStoreSuite("files", async () => engineOver(await newFiles()));

test("an answered step survives a power cut, and names its organization", async () => {
  const files = await newFiles();
  await (await engineOver(files)).rollouts.create("default", rolloutOf("r1"));
  const after = files.powerCut(() => 0);
  assert.deepEqual(await (await engineOver(after)).rollouts.list("default"), [rolloutOf("r1")]);
  assert.deepEqual(JSON.parse(after.text(path)), {
    organization_id: "default",
    rollouts: [rolloutOf("r1")],
  });
});

test("a write that fails changes nothing, neither now nor after a restart", async () => {
  const files = await newFiles();
  const { rollouts } = await engineOver(files);
  await rollouts.create("default", rolloutOf("r1"));
  files.before = (operation, at) => {
    if (operation === "fsync" && at === directory) throw systemError("EIO");
  };
  const step = rollouts.update("default", "r1", (one) => ({ ...one, state: "paused" }));
  await assert.rejects(step, /EIO/);
  files.before = () => {};
  await rollouts.addFetched("default", "r1", ["a"]);
  const again = await engineOver(files.restarted());
  assert.deepEqual(await again.rollouts.list("default"), [rolloutOf("r1")]);
});

for (const [fault, content] of [
  ["text", "no JSON"],
  ["another organization", JSON.stringify({ organization_id: "acme", rollouts: [] })],
  ["a rollout without a state", JSON.stringify({ organization_id: "default", rollouts: [{}] })],
] as const) {
  test(`a damaged file is named at the start: ${fault}`, async () => {
    const files = await newFiles();
    await (await engineOver(files)).rollouts.create("default", rolloutOf("r1"));
    const descriptor = await files.open(path, "w");
    await files.write(descriptor, Buffer.from(content), 0);
    await files.close(descriptor);
    await assert.rejects(engineOver(files.restarted()), /rollouts\.json is damaged/);
  });
}
