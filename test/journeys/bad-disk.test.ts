/**
 * A disk that fails under the whole service, and recovers. Every change is refused with a truthful
 * 500, stored data is still answered, `/ready` names the parts that cannot be written, and writing
 * resumes by itself. A power cut at the end shows that the disk has everything that was answered.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openApp } from "../../src/app.ts";
import { configFromOptions } from "../../src/config.ts";
import type { FileOperations } from "../../src/storage/file-operations.ts";
import { openFileEngine } from "../../src/storage/files/engine.ts";
import { Layout } from "../../src/storage/layout.ts";
import { Client, type Answer } from "../support/client.ts";
import { ForgetfulFiles, systemError } from "../support/forgetful-files.ts";

const layout = new Layout("/data");
const T0 = Date.parse("2026-11-20T20:30:00.000Z");

type Send = (method: string, path: string, body?: object) => Promise<Answer>;

/** A part of the service that stores data: how to change it, and how to read it. */
interface Part {
  readonly called: RegExp;
  readonly change: (send: Send, n: number) => Promise<Answer>;
  readonly see: (send: Send) => Promise<unknown>;
}

const PARTS: Readonly<Record<string, Part>> = {
  events: {
    called: /audit log/,
    change: (send, n) => send("POST", "/audit", { id: `e${n}`, command: "ls" }),
    see: async (send) => (await send("GET", "/audit")).body,
  },
  policies: {
    called: /policies/,
    change: (send, n) => send("POST", "/policies", { version: `v${n}`, yaml: `a: ${n}` }),
    see: async (send) => (await send("GET", "/policies")).body,
  },
  keys: {
    called: /API keys/,
    change: (send, n) => send("POST", "/api-keys", { name: `k${n}` }),
    see: async (send) => (await send("GET", "/api-keys")).body,
  },
  organizations: {
    called: /organizations and users/,
    change: (send, n) => send("PATCH", "/organizations/default", { name: `Home ${n}` }),
    see: async (send) => (await send("GET", "/organizations/default")).body,
  },
  settings: {
    called: /settings/,
    change: (send, n) => send("PUT", "/settings", { settings: [{ key: "n", value: `${n}` }] }),
    see: async (send) => (await send("GET", "/settings")).body.settings,
  },
  overrides: {
    called: /provider overrides/,
    change: (send, n) =>
      send("PUT", "/providers/git", { status: n % 2 === 0 ? "degraded" : "offline" }),
    see: async (send) =>
      (await send("GET", "/providers")).body.providers.find(
        (row: { id: string }) => row.id === "git",
      ),
  },
  fleet: {
    called: /fleet log/,
    change: (send, n) => send("POST", "/runtime/register", { name: `r${n}` }),
    see: async (send) => (await send("GET", "/fleet")).body.runtimes,
  },
};

type Fault = (operation: keyof FileOperations, flags: string | undefined) => string | undefined;

const WRITES = new Set<string>(["write", "writeSync", "makeDirectory"]);
const CHANGES = new Set<string>([...WRITES, "rename", "link", "remove", "truncate"]);
const opensToWrite = (flags: string | undefined): boolean => flags !== undefined && flags !== "r";

const FAULTS: Readonly<Record<string, Fault>> = {
  "is full": (operation) => (WRITES.has(operation) ? "ENOSPC" : undefined),
  "fails to write": (operation) => (WRITES.has(operation) ? "EIO" : undefined),
  "fails to sync": (operation) => (/^f(data)?sync$/.test(operation) ? "EIO" : undefined),
  "was made read-only": (operation, flags) =>
    CHANGES.has(operation) || opensToWrite(flags) ? "EROFS" : undefined,
};

async function serve(files: ForgetfulFiles, now: () => number) {
  const config = configFromOptions({ dataDir: layout.root });
  const app = await openApp(config, now, () => {}, {
    openEngine: (parts) => openFileEngine(parts, files),
  });
  const client = new Client();
  const send: Send = (method, path, body) =>
    client.request(app.url, method, path === "/ready" ? path : `/api/v1${path}`, body);
  const close = async (): Promise<void> => {
    client.close();
    await app.close();
  };
  return { send, close };
}

for (const [what, fault] of Object.entries(FAULTS)) {
  test(`a disk that ${what} refuses every change, and nothing else`, async () => {
    let time = T0;
    const files = new ForgetfulFiles();
    const { send, close } = await serve(files, () => time);
    for (const { change } of Object.values(PARTS)) await accepted(change(send, 1));
    for (const [name, { called, change, see }] of Object.entries(PARTS)) {
      const before = await see(send);
      files.before = (operation, path, flags) => {
        const code = path.includes("activity") ? undefined : fault(operation, flags);
        if (code !== undefined) throw systemError(code);
      };
      const failed = await change(send, 2);
      assert.equal(failed.status, what === "is full" ? 507 : 500, name);
      const error =
        what === "is full" ? /^The disk of this service is full,/ : /^The service failed/;
      assert.match(failed.body.error, error);
      assert.deepEqual(await see(send), before, `${name}: reads go on, and show what stood`);
      const refused = await send("GET", "/ready");
      assert.equal(refused.status, 503, name);
      assert.match(refused.body.error, called);
      assert.match(refused.body.error, /\((ENOSPC|EIO|EROFS)\)/);

      files.before = () => {}; // there is room again
      await untilReady(send, () => (time += 1_000));
      assert.deepEqual(await see(send), before, `${name}: nothing of the refused change came back`);
      await accepted(change(send, 3));
    }
    const sights = await Promise.all(Object.values(PARTS).map(({ see }) => see(send)));
    const left = files.afterPowerCut(() => 0);
    await close();
    await left.remove(layout.lock);
    const again = await serve(left, () => time);
    for (const [at, { see }] of Object.values(PARTS).entries()) {
      assert.deepEqual(await see(again.send), sights[at]);
    }
    await again.close();
  });
}

test("a disk that writes three bytes at a time stores everything", async () => {
  const files = new ForgetfulFiles();
  const { send, close } = await serve(files, () => T0);
  files.maxWrite = 3;
  for (const { change } of Object.values(PARTS)) await accepted(change(send, 1));
  await close();
});

test("a failing rename refuses changes of snapshots, and the logs continue", async () => {
  let time = T0;
  const files = new ForgetfulFiles();
  const { send, close } = await serve(files, () => time);
  const { events, fleet, ...snapshots } = PARTS as Record<"events" | "fleet", Part>;
  for (const { change } of Object.values(PARTS)) await accepted(change(send, 1));
  files.before = (operation) => {
    if (operation === "rename") throw systemError("EIO");
  };
  for (const { change, see } of Object.values(snapshots) as Part[]) {
    const before = await see(send);
    assert.equal((await change(send, 2)).status, 500);
    assert.deepEqual(await see(send), before);
  }
  for (const { change } of [events, fleet]) await accepted(change(send, 2));
  assert.equal((await send("GET", "/ready")).status, 503);
  files.before = () => {};
  await untilReady(send, () => (time += 1_000));
  await close();
});

test("an audit log and an activity log that cannot be opened make the service unready", async () => {
  let time = T0;
  const files = new ForgetfulFiles();
  const { send, close } = await serve(files, () => time);
  files.before = (_operation, path, flags) => {
    if (opensToWrite(flags) && /\/(audit|activity)/.test(path)) throw systemError("ENOSPC");
  };
  assert.equal((await send("POST", "/audit", { command: "ls" })).status, 507);
  assert.equal((await send("POST", "/api-keys", { name: "k" })).status, 500); // its entry is missing
  assert.deepEqual((await send("GET", "/ready")).body, {
    error: "Not ready: cannot write the audit log (ENOSPC) and the activity log (ENOSPC)",
  });
  files.before = () => {};
  await untilReady(send, () => (time += 1_000));
  await accepted(send("POST", "/audit", { command: "ls" }));
  await close();
});

async function accepted(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer;
  assert.ok(status >= 200 && status < 300, text);
}

/** Requests `/ready` until the service has found that it can write again. */
async function untilReady(send: Send, advance: () => void): Promise<void> {
  for (let asked = 0; asked < 200; asked++) {
    if ((await send("GET", "/ready")).status === 200) return;
    advance();
  }
  assert.equal((await send("GET", "/ready")).status, 200);
}
