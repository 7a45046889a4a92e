/** A disk whose syncs hang until they are released, under the whole service. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { openApp } from "../../src/app.ts";
import { configFromOptions } from "../../src/config.ts";
import { openFileEngine } from "../../src/storage/files/engine.ts";
import { Layout } from "../../src/storage/layout.ts";
import { Client, type Answer } from "../support/client.ts";
import { ForgetfulFiles } from "../support/forgetful-files.ts";
import { START_TIME, type Settings } from "../support/start.ts";

const layout = new Layout("/data");

class SlowDisk {
  readonly files = new ForgetfulFiles();
  readonly #client = new Client();
  readonly #url: () => string;

  private constructor(url: () => string) {
    this.#url = url;
  }

  static async serve(t: TestContext, settings: Settings): Promise<SlowDisk> {
    let url = "";
    const disk = new SlowDisk(() => url);
    const config = configFromOptions({ ...settings, dataDir: layout.root });
    const now = () => Date.parse(START_TIME);
    const app = await openApp(config, now, () => {}, {
      openEngine: (parts) => openFileEngine(parts, disk.files),
    });
    url = app.url;
    t.after(async () => {
      disk.release();
      disk.#client.close();
      await app.close();
    });
    return disk;
  }

  post(path: string, body: object): Promise<Answer> {
    return this.#client.request(this.#url(), "POST", `/api/public${path}`, body);
  }

  /** From now on syncs hang. */
  hang(): void {
    this.files.held = [];
  }

  /** Resolves when a sync hangs on a file whose path matches. */
  async hanging(path: RegExp): Promise<void> {
    while (!this.files.held?.some((sync) => path.test(sync.path))) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Ends all hanging syncs, and lets later ones pass. */
  release(): void {
    const held = this.files.held ?? [];
    this.files.held = undefined;
    for (const sync of held) sync.end();
  }
}

test("with AUDIT_DURABILITY=write events are answered while a sync hangs", async (t) => {
  const disk = await SlowDisk.serve(t, { auditDurability: "write" });
  disk.hang();
  assert.equal((await disk.post("/audit", { command: "first" })).status, 202);
  await disk.hanging(/audit/); // the sync that follows within a second
  for (const command of ["second", "third"]) {
    assert.equal((await disk.post("/audit", { command })).status, 202);
  }
  const batch = await disk.post("/audit", { events: [{ command: "fourth" }, { id: "named" }] });
  assert.equal(batch.status, 202);
});

test("a known runtime's heartbeat is answered while the sync of a new one hangs", async (t) => {
  const disk = await SlowDisk.serve(t, {});
  assert.equal((await disk.post("/fleet/heartbeat", { name: "known" })).status, 200);
  disk.hang();
  let isStored = false;
  const fresh = disk.post("/fleet/heartbeat", { name: "new" }).then((answer) => {
    isStored = true;
    return answer;
  });
  await disk.hanging(/fleet/);
  assert.equal((await disk.post("/fleet/heartbeat", { name: "known", os: "linux" })).status, 200);
  assert.equal((await disk.post("/fleet/heartbeat", { name: "known", os: "plan9" })).status, 200);
  assert.equal(isStored, false, "a runtime's first report is synced before the answer");
  disk.release();
  assert.equal((await fresh).status, 200);
});
