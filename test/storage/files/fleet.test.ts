import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import { createLog } from "../../../src/core/log.ts";
import { all, fleetStoreSuite, report, type FleetEngine } from "../../fleet/store-suite.ts";
import { systemError, type ForgetfulFiles } from "../../support/forgetful-files.ts";
import { directory, fleetLog, fleetSnapshot, newFiles, open, silent, T0 } from "./fleet-engine.ts";

async function engineOver(files: ForgetfulFiles, minLogBytes?: number): Promise<FleetEngine> {
  const store = await open(files, minLogBytes);
  return {
    store,
    async reopen() {
      await store.close();
      return engineOver(files.restarted(), minLogBytes);
    },
  };
}

fleetStoreSuite("files", async () => engineOver(await newFiles()));
fleetStoreSuite("files, folded after every report", async () => engineOver(await newFiles(), 1));

test("records on disk name their organization, one record a line", async () => {
  const files = await newFiles();
  const store = await open(files);
  await report(store, "default", { name: "a", os: "linux" }, T0);
  await report(store, "default", { name: "a", os: "linux" }, T0 + 1);
  await store.forget("default", "a");
  const start = '{"organization_id":"default","name":"a"';
  assert.equal(
    files.text(fleetLog),
    [
      `${start},"os":"linux","last_seen":"2026-11-20T20:30:00.000Z"}`,
      `${start},"last_seen":"2026-11-20T20:30:00.001Z"}`,
      `${start},"deleted":true}`,
      "",
    ].join("\n"),
  );
});

test("a report right after a removal keeps all its fields", async () => {
  const engine = await engineOver(await newFiles());
  await report(engine.store, "default", { name: "a", os: "linux" });
  const removal = engine.store.forget("default", "a");
  assert.equal(await report(engine.store, "default", { name: "a", os: "linux" }), true);
  assert.equal(await removal, true);
  const { store } = await engine.reopen();
  assert.deepEqual(await all(store, "default"), [{ name: "a", os: "linux", last_seen: T0 }]);
});

test("a log that cannot be written stops no other organization's forgetting", async () => {
  const files = await newFiles();
  const lines: string[] = [];
  const log = createLog(
    "error",
    () => T0,
    (line) => void lines.push(line),
  );
  const store = await open(files, undefined, log);
  for (const organization of ["acme", "default"]) await report(store, organization, { name: "a" });
  files.before = (_, path) => {
    if (path.includes("/acme/")) throw systemError("EIO");
  };
  const forgotten = [{ organization: "default", runtimes: 1 }];
  assert.deepEqual(await store.forgetSilent(T0 + 1), forgotten);
  assert.match(lines.join(""), /"fleet retention failed","organization":"acme","error":".*EIO/);
});

test("a new runtime survives a power cut right after its answer", async () => {
  const files = await newFiles();
  await report(await open(files), "default", { name: "a", os: "linux" });
  const rows = await all(await open(files.powerCut(() => 0)), "default");
  assert.deepEqual(rows, [{ name: "a", os: "linux", last_seen: T0 }]);
});

test("a removal survives a power cut right after its answer", async () => {
  const files = await newFiles();
  const store = await open(files);
  await report(store, "default", { name: "a" });
  await store.forget("default", "a");
  assert.deepEqual(await all(await open(files.powerCut(() => 0)), "default"), []);
});

test("a new runtime is not answered before it is synced, a known one is", async () => {
  const files = await newFiles();
  const store = await open(files);
  await report(store, "default", { name: "a" });
  files.held = [];
  await report(store, "default", { name: "a" }, T0 + 1); // would otherwise wait for ever
  let isAnswered = false;
  const isNew = report(store, "default", { name: "b" }).then((value) => {
    isAnswered = true;
    return value;
  });
  while (files.held.length === 0) await nextTurn();
  assert.equal(isAnswered, false);
  assert.equal((await all(store, "default")).length, 1);
  files.held[0]?.end();
  assert.equal(await isNew, true);
});

test("a heartbeat that cannot be written is an error and changes nothing; later ones work", async () => {
  const files = await newFiles();
  let now = T0;
  const store = await open(files, undefined, silent, () => now);
  await report(store, "default", { name: "a", os: "linux" });
  files.before = (operation) => {
    if (operation === "writeSync" || operation === "open") throw systemError("ENOSPC");
  };
  await assert.rejects(report(store, "default", { name: "a", os: "plan9" }, T0 + 1), /ENOSPC/);
  await assert.rejects(report(store, "default", { name: "b" }, T0 + 1), /ENOSPC/);
  assert.ok(store.failure);
  assert.deepEqual(await all(store, "default"), [{ name: "a", os: "linux", last_seen: T0 }]);
  files.before = () => {};
  now += 1_000;
  assert.equal(await report(store, "default", { name: "b" }, now), true);
  assert.equal(store.failure, undefined);
  await store.close();
  const names = (await all(await open(files.restarted()), "default")).map(({ name }) => name);
  assert.deepEqual(names, ["b", "a"]);
});

test("a log that cannot be opened is an error, and is tried again", async () => {
  const files = await newFiles();
  const store = await open(files);
  files.before = (operation) => {
    if (operation === "open") throw systemError("EMFILE");
  };
  await assert.rejects(report(store, "default", { name: "a" }), /EMFILE/);
  files.before = () => {};
  assert.equal(await report(store, "default", { name: "a" }), true);
});

test("a report after the end is refused", async () => {
  const store = await open(await newFiles());
  await store.close();
  await assert.rejects(report(store, "default", { name: "a" }), /stopping/);
});

test("a torn line at the end of the log was never answered, and is dropped", async () => {
  const files = await newFiles();
  const store = await open(files);
  await report(store, "default", { name: "a" });
  await store.close();
  const whole = files.text(fleetLog);
  const descriptor = await files.open(fleetLog, "r+");
  await files.write(descriptor, Buffer.from('{"organization_id":"default","na'), whole.length);
  const next = await open(files.restarted());
  assert.deepEqual(await all(next, "default"), [{ name: "a", last_seen: T0 }]);
  assert.equal(await report(next, "default", { name: "b" }), true);
});

for (const [path, content, place] of [
  [fleetSnapshot, "{", "not JSON"],
  [fleetSnapshot, '{"log":1}', "expected log and runtimes"],
  [fleetSnapshot, '{"log":1,"runtimes":[]}', "organization_id"],
  [
    fleetSnapshot,
    '{"organization_id":"default","log":1,"runtimes":[{"organization_id":"default","name":"a","last_seen":"now"}]}',
    "runtimes\\[0\\]",
  ],
] as const) {
  test(`${path} with ${JSON.stringify(content)} stops the start and is named`, async () => {
    const files = await newFiles();
    await files.makeDirectory(directory);
    await files.write(await files.open(path, "w"), Buffer.from(content), 0);
    await assert.rejects(open(files), new RegExp(`${path} is damaged \\(.*${place}.*backup`));
  });
}
