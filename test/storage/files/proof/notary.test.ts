import assert from "node:assert/strict";
import { appendFile, mkdir, readFile, rename, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { createLog } from "../../../../src/core/log.ts";
import { newPrivateKey } from "../../../../src/proof/note.ts";
import { systemFiles } from "../../../../src/storage/file-operations.ts";
import { Notary } from "../../../../src/storage/files/proof/notary.ts";
import type { Wait } from "../../../../src/signed-logs/paced-work.ts";
import { Layout } from "../../../../src/storage/layout.ts";
import { newDirectory } from "../../../support/server-process.ts";

const LOG = { organization: "acme", log: "activity" } as const;

async function fixture() {
  const layout = new Layout(await newDirectory({ after }));
  const { directory, activityLog, activityProof } = layout.organization("acme");
  await mkdir(directory, { recursive: true });
  const said: string[] = [];
  const committed: [string, number][] = [];
  const open = (more: { readonly wait?: Wait } = {}) =>
    new Notary({
      ...more,
      ...{
        files: systemFiles,
        layout,
        now: () => 0,
        keys: { key: newPrivateKey(), earlier: [] },
        host: "h",
        seconds: 86_400,
      },
      log: createLog(
        "info",
        () => 0,
        (line) => void said.push(line),
      ),
      writers: [{ committed }],
    });
  const checkpoints = async () =>
    (await readFile(join(activityProof, "checkpoints.jsonl"), "utf8")).split("\n").slice(0, -1);
  return { activityLog, said, committed, open, checkpoints };
}

test("only acknowledged bytes are signed, and only logs that have grown", async () => {
  const { activityLog, committed, open, checkpoints } = await fixture();
  await appendFile(activityLog, "{}\n[]\n");
  committed.push([activityLog, 3]);
  const notary = open();
  await notary.signGrown();
  assert.match((await checkpoints()).join(), /^\{"note":"h\/acme\/activity\\n1\\n/);
  await notary.signGrown();
  assert.equal((await checkpoints()).length, 1);
  committed.splice(0, 1, [activityLog, 6]);
  await notary.close();
  assert.match((await checkpoints())[1] ?? "", /^\{"note":"h\/acme\/activity\\n2\\n/);
  assert.equal(notary.failure, undefined);
});

test("a contradiction is kept as the failure, and told once", async () => {
  const { activityLog, said, committed, open, checkpoints } = await fixture();
  await appendFile(activityLog, "{}\n[]\n");
  const first = open();
  await first.close();
  await truncate(activityLog, 3);
  const notary = open();
  await notary.signGrown();
  committed.push([activityLog, 3]);
  await notary.close();
  assert.match(String(notary.failure), /activity\.jsonl is shorter than when it was signed/);
  assert.equal(said.filter((line) => line.includes("the log is not signed")).length, 1);
  assert.equal((await checkpoints()).length, 1);
});

test("another failure passes when its cause has gone", async () => {
  const { activityLog, open, checkpoints } = await fixture();
  await mkdir(activityLog);
  const notary = open();
  await notary.sign(LOG);
  assert.ok(notary.failure);
  await rename(activityLog, `${activityLog}.x`);
  await appendFile(activityLog, "{}\n");
  await notary.close();
  assert.equal(notary.failure, undefined);
  assert.equal((await checkpoints()).length, 1);
});

test("requests cause one signing a second, and each one's lines are in it", async () => {
  const { activityLog, open, checkpoints } = await fixture();
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  const notary = open({
    wait: (ms) => new Promise((end) => void waits.push({ ms, end })),
  });
  await appendFile(activityLog, "{}\n");
  await notary.signFor(LOG);
  await appendFile(activityLog, "[]\n");
  const first = notary.signFor(LOG);
  await appendFile(activityLog, "{}\n");
  const second = notary.signFor(LOG);
  await new Promise((resolve) => void setImmediate(resolve));
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [1_000],
  );
  waits[0]?.end();
  await Promise.all([first, second]);
  const sizes = (await checkpoints()).map((line) => line.split("\\n")[1]);
  assert.deepEqual(sizes, ["1", "3"]);
  await notary.close();
});

test("a log that could not be signed is tried again, though it has not grown", async () => {
  const { activityLog, open, checkpoints } = await fixture();
  await mkdir(activityLog);
  const notary = open();
  await notary.signGrown();
  assert.ok(notary.failure);
  await rename(activityLog, `${activityLog}.x`);
  await appendFile(activityLog, "{}\n");
  await notary.signGrown();
  assert.equal(notary.failure, undefined);
  assert.equal((await checkpoints()).length, 1);
  await notary.close();
});

test("organizations that cannot be listed are signed once they can be", async () => {
  const { activityLog, said, open, checkpoints } = await fixture();
  await appendFile(activityLog, "{}\n");
  const organizations = join(activityLog, "../..");
  await rename(organizations, `${organizations}.away`);
  await appendFile(organizations, "a file");
  const notary = open();
  await notary.signGrown();
  assert.match(said.join(), /no log is signed.*ENOTDIR/);
  assert.ok(notary.failure instanceof Error);
  await rm(organizations);
  await rename(`${organizations}.away`, organizations);
  await notary.signGrown();
  assert.equal(notary.failure, undefined);
  assert.equal((await checkpoints()).length, 1);
  await notary.close();
});

test("a closed notary signs nothing, even for a request that waited", async () => {
  const { activityLog, open, checkpoints } = await fixture();
  const notary = open();
  await appendFile(activityLog, "{}\n");
  await notary.close();
  await appendFile(activityLog, "[]\n");
  await notary.signFor(LOG);
  assert.equal((await checkpoints()).length, 1);
});
