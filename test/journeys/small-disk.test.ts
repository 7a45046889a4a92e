/** Real file systems of a few MiB, if this process may mount them; otherwise skipped. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startSignalbox } from "../../src/index.ts";
import { Client, type Answer } from "../support/client.ts";
import { Ext4, fill, mountTmpfs } from "../support/small-disks.ts";

const LEFT_KIB = 600;
const AT_ONCE = 4;

interface Served {
  send(method: string, path: string, body?: object): Promise<Answer>;
  close(): Promise<void>;
}

async function serve(dataDir: string): Promise<Served> {
  const signalbox = await startSignalbox({ dataDir });
  const client = new Client();
  return {
    send: (method, path, body) => client.request(signalbox.url, method, path, body),
    async close() {
      client.close();
      await signalbox.close();
    },
  };
}

async function idsOf({ send }: Served): Promise<string[]> {
  const { body } = await send("GET", "/api/public/audit?limit=1000");
  const ids = (body.events as { id: string }[]).map(({ id }) => id).sort();
  assert.equal(body.total, ids.length);
  return ids;
}

/**
 * Reports events on several connections until the disk refuses them; makes room; reports again.
 *
 * @returns the ids that were acknowledged, sorted
 */
async function fillAndGoOn(
  dataDir: string,
  takeRoom: () => Promise<void>,
  giveRoom: () => Promise<void>,
): Promise<string[]> {
  const served = await serve(dataDir);
  try {
    return await reportUntilRefused(served, takeRoom, giveRoom);
  } finally {
    await served.close();
  }
}

async function reportUntilRefused(
  served: Served,
  takeRoom: () => Promise<void>,
  giveRoom: () => Promise<void>,
): Promise<string[]> {
  const { send } = served;
  const acknowledged: string[] = [];
  const report = async (id: string, length: number): Promise<number> => {
    const event = { id, command: "x".repeat(length) };
    const { status } = await send("POST", "/api/public/audit", event);
    if (status === 202) acknowledged.push(id);
    return status;
  };
  assert.equal(await report("first", 10), 202);
  await takeRoom();
  let refusal = 202;
  const fill = async (_: unknown, connection: number): Promise<void> => {
    for (let n = 0; refusal === 202 && n < 100; n++) {
      const status = await report(`e${connection}-${n}`, 100 + 20_011 * (n % 10));
      if (status !== 202) refusal = status;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fill));
  assert.equal(refusal, 507);
  // A shorter event may fit by now; this one is longer than the space that was left.
  assert.equal(await report("too-long", 1_000_000), 507);
  const refused = await send("GET", "/ready");
  assert.equal(refused.status, 503);
  assert.match(refused.body.error, /cannot write the audit log \((ENOSPC|EIO)\)/);
  assert.equal((await send("GET", "/health")).status, 200);
  assert.deepEqual(await idsOf(served), acknowledged.toSorted());

  await giveRoom();
  for (let asked = 0; (await send("GET", "/ready")).status !== 200; asked++) {
    assert.ok(asked < 1_000, "it does not become ready again");
    await wait(50);
  }
  assert.equal(await report("after", 200_000), 202);
  return acknowledged.sort();
}

/** The ids after the next start, which must find no damage. */
async function idsIn(dataDir: string): Promise<string[]> {
  const served = await serve(dataDir);
  const ids = await idsOf(served);
  assert.equal((await served.send("GET", "/health")).body.status, "ok");
  await served.close();
  return ids;
}

test("a full file system refuses events, and accepts them again when there is room", async (t) => {
  const disk = await mountTmpfs(t, 4);
  if (disk === undefined) return;
  const filler = join(disk, "filler");
  const dataDir = join(disk, "data");
  const acknowledged = await fillAndGoOn(
    dataDir,
    () => fill(filler, LEFT_KIB),
    () => rm(filler),
  );
  assert.deepEqual(await idsIn(dataDir), acknowledged);
});

for (const [what, take, give] of [
  ["is full", "takeRoom", "giveRoom"],
  ["fails to write back what it took", "takeRoomBelow", "giveRoomBelow"],
] as const) {
  test(`an ext4 that ${what} refuses events, accepts them again later, and has them after a remount`, async (t) => {
    const disk = await Ext4.make(t);
    if (disk === undefined) return;
    const dataDir = join(disk.path, "data");
    const acknowledged = await fillAndGoOn(
      dataDir,
      () => disk[take](LEFT_KIB, join(dataDir, "organizations/default/audit/000000000001.jsonl")),
      () => disk[give](),
    );
    disk.unmount();
    assert.ok(await disk.mount());
    assert.deepEqual(await idsIn(dataDir), acknowledged);
  });
}
