import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { test } from "node:test";
import { start } from "../support/start.ts";

const EVENTS = 4;
const LONG = "x".repeat(1 << 20);
const GREEDY = "127.0.0.2";
const OTHER = "127.0.0.3";
const GREEDY_PAGES = 30;

test("a long page does not wait for those that another client reads at the same time", async (t) => {
  const app = await start(t);
  for (let i = 0; i < EVENTS; i++) {
    assert.equal((await app.post("/api/public/audit", { command: LONG })).status, 202);
  }
  const ended: string[] = [];
  const begun = async (localAddress: string): Promise<IncomingMessage> => {
    const sent = request(`${app.url}/api/public/audit`, { localAddress, agent: false }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.on("end", () => ended.push(localAddress));
    return response;
  };
  const pages = await Promise.all(Array.from({ length: GREEDY_PAGES }, () => begun(GREEDY)));
  pages.push(await begun(OTHER)); // none has been read so far
  await Promise.all(pages.map((page) => once(page.resume(), "close")));
  assert.equal(ended.length, GREEDY_PAGES + 1);
  const before = ended.indexOf(OTHER);
  assert.ok(before < GREEDY_PAGES / 10, `${before} of ${GREEDY_PAGES} ended before`);
});
