import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createCommands } from "../../bench/commands.ts";
import { createRandom } from "../../src/demo/random.ts";
import { Portal } from "../../bench/simulate/portal.ts";
import { Runtime } from "../../bench/simulate/runtime.ts";
import { Tally } from "../../bench/simulate/tally.ts";
import { start } from "../support/start.ts";

/** A runtime that lives a thousand times as fast as usual. */
function hastyRuntime(base: string): { readonly runtime: Runtime; readonly tally: Tally } {
  const tally = new Tally();
  const random = createRandom(1);
  const portal = new Portal({ base, key: undefined, tally, most: 10_000 });
  const nextCommand = createCommands(createRandom(2));
  const runtime = new Runtime({ number: 1, run: "test", portal, random, nextCommand, pace: 1_000 });
  return { runtime, tally };
}

/** Lets a runtime live until it has reported enough, and then deliver the rest. */
async function liveUntil(
  runtime: Runtime,
  isEnough: () => boolean | Promise<boolean>,
): Promise<void> {
  const enough = new AbortController();
  const life = runtime.live(enough.signal);
  while (!(await isEnough())) await turn();
  enough.abort();
  await life;
}

test("a simulated runtime registers, polls, beats and delivers every event", async (t) => {
  const app = await start(t);
  await app.post("/api/public/policies", { yaml: "rules: []", version: "v1" });
  const { runtime, tally } = hastyRuntime(`${app.url}/api/public`);
  const fleet = async () =>
    (await app.get("/api/public/fleet")).body.runtimes as {
      readonly name: string;
      readonly policy_version?: string;
    }[];
  // It registers without a version, and reports the one that it has fetched with a later heartbeat.
  const reports = async (): Promise<boolean> => (await fleet())[0]?.policy_version !== undefined;
  await liveUntil(runtime, () => tally.reported > 0 && tally.notModified > 0 && reports());
  const audit = await app.get("/api/public/audit");
  assert.equal(runtime.unsent, 0);
  assert.equal(tally.refused + tally.failures, 0);
  assert.equal((audit.body as { total: number }).total, tally.reported);
  const [found] = await fleet();
  assert.equal(found?.name, "simulated-1");
  assert.equal(found.policy_version, "v1");
});

test("undelivered events are sent again with the same ids", async (t) => {
  const seen: string[] = [];
  let posts = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const isAudit = request.url?.endsWith("/audit") === true;
      const body = Buffer.concat(chunks).toString("utf8");
      if (isAudit) seen.push(...[...body.matchAll(/"id":"([^"]+)"/g)].map(([, id = ""]) => id));
      // Every second report is stored, but its answer is lost.
      response.writeHead(isAudit && posts++ % 2 === 0 ? 503 : 202).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { runtime, tally } = hastyRuntime(`http://127.0.0.1:${port}/api/public`);
  await liveUntil(runtime, () => tally.resent > 0);
  assert.equal(runtime.unsent, 0);
  assert.equal(new Set(seen).size, tally.reported);
  assert.equal(seen.length - tally.resent, tally.reported);
});

test("every progress line shows the refused requests", () => {
  const tally = new Tally();
  tally.requests = tally.refused = 3;
  assert.match(tally.line(10), /3 requests .* 0 failures, 3 refused/);
});
