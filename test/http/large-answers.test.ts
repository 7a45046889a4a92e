import assert from "node:assert/strict";
import type { Writable } from "node:stream";
import { test, type TestContext } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { stream, text } from "../../src/http/reply.ts";
import { route, type LargeAnswer } from "../../src/http/route.ts";
import { Turns } from "../../src/core/scheduling/turns.ts";
import { serve, until } from "./serve.ts";

const ROW = { surfaces: ["portal"], access: "open", summary: "s", tags: ["t"] } as const;
const LIMITS = { atOnce: 2, atOnceOfOne: 2, waiting: 3 };

/** A server with a quick row and a large one, whose answers are made when `finish` is called. */
async function serveLarge(t: TestContext, large: LargeAnswer, isStream = false) {
  const making: (() => void)[] = [];
  const made = () => new Promise<void>((resolve) => making.push(resolve));
  const rows = [
    route({
      ...{ ...ROW, method: "GET", path: "/large", replies: { 200: "text/plain" } },
      large,
      query: { small: { type: "string", description: "Asks for a small answer." } },
      turn: ({ query }) => (query.small === undefined ? large : undefined),
      async handle({ query }) {
        if (query.small !== undefined) return text(200, "text/plain", "small");
        if (isStream) return stream("text/plain", made);
        await made();
        return text(200, "text/plain", "done");
      },
    }),
    route({
      ...{ ...ROW, method: "GET", path: "/quick", replies: { 200: "text/plain" } },
      handle: () => text(200, "text/plain", "quick"),
    }),
  ];
  const turns = {
    made: new Turns(LIMITS),
    sent: new Turns(LIMITS),
    searched: new Turns(LIMITS),
    listed: new Turns({ ...LIMITS, areShort: true }),
  };
  const served = await serve(t, rows, { turns });
  const ask = () => {
    const connection = served.open();
    connection.send("GET /large HTTP/1.1", "Host: test", "Connection: close", "", "");
    return connection;
  };
  /** Asks for as many answers as may be made and wait: first those that are made at once. */
  const askMost = async () => {
    const asked = [ask(), ask()];
    await until(() => making.length === LIMITS.atOnce);
    return [...asked, ask(), ask(), ask()];
  };
  return { ...served, making, askMost };
}

test("a connection that comes with sixty others waits for few of their large answers", async (t) => {
  const row = { ...ROW, method: "GET", replies: { 200: "text/plain" } } as const;
  let begun = 0;
  const rows = [
    route({
      ...{ ...row, path: "/large", large: "made" },
      handle: () => text(200, "text/plain", `large ${++begun}`),
    }),
    route({ ...row, path: "/quick", handle: () => text(200, "text/plain", `after ${begun}`) }),
  ];
  const made = new Turns({ atOnce: 64, atOnceOfOne: 64, waiting: 64 });
  const { open } = await serve(t, rows, {
    turns: { made, sent: made, searched: made, listed: made },
  });
  const ask = async (path: string) => {
    const connection = open();
    connection.send(`GET ${path} HTTP/1.1`, "Host: test", "Connection: close", "", "");
    return (await connection.next()).body;
  };
  const large = Array.from({ length: 60 }, () => ask("/large"));
  const [, after] = /after (\d+)/.exec(await ask("/quick")) ?? [];
  assert.ok(Number(after) < 30, `${after} of 60 large answers were made before`);
  await Promise.all(large);
  assert.equal(begun, 60);
});

test("few large answers are made at once, and small requests are answered meanwhile", async (t) => {
  const { askMost, making, requests, url } = await serveLarge(t, "made");
  const asked = await askMost();
  await until(() => requests.length === 5);
  assert.equal(await (await fetch(`${url}/quick`)).text(), "quick");
  assert.equal(await (await fetch(`${url}/large?small=yes`)).text(), "small");
  assert.equal(making.length, 2);
  const refused = await fetch(`${url}/large`);
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "2"]);
  for (let i = 0; i < 5; i++) {
    await until(() => making.length > i);
    assert.ok(making.length <= i + 2);
    making[i]?.();
  }
  for (const connection of asked) assert.equal((await connection.next()).body, "done");
});

test("a client that disconnects while it waits makes room for another", async (t) => {
  const { askMost, making, requests, summaries, url } = await serveLarge(t, "made");
  const leaving = (await askMost()).at(-1);
  await until(() => requests.length === 5);
  leaving?.socket.destroy();
  await until(() => summaries.some(({ status }) => status === 499));
  const answer = fetch(`${url}/large`);
  for (let i = 0; i < 5; i++) {
    await until(() => making.length > i);
    making[i]?.();
  }
  assert.equal((await answer).status, 200);
});

test("a stream keeps its turn until it is sent, if its row says so", async (t) => {
  const { askMost, making, requests } = await serveLarge(t, "sent", true);
  await askMost();
  await until(() => requests.length === 5 && making.length === 2);
  making[0]?.();
  await until(() => making.length === 3);
});

test("a stream that is made while it is read gives its turn back when it begins", async (t) => {
  const { askMost, making } = await serveLarge(t, "made", true);
  await askMost();
  await until(() => making.length === 5);
  for (const finish of making) finish();
});

test("clients on several addresses that do not read cannot hold all turns", async (t) => {
  const sent = new Turns({ ...LIMITS, atOnceOfOne: 1 });
  // More than the buffers of a loopback connection take, so that most of it waits in the process.
  const body = Buffer.alloc(16 << 20);
  const begun: Writable[] = [];
  const row = route({
    ...{ ...ROW, method: "GET", path: "/large", replies: { 200: "text/plain" } },
    large: "sent",
    handle: () =>
      stream("text/plain", async (response) => {
        begun.push(response);
        response.write(body);
        while (response.writableLength > 0 && !response.destroyed) await turnOfTheLoop();
      }),
  });
  const { open, url } = await serve(t, [row], {
    turns: { made: new Turns(LIMITS), sent, searched: sent, listed: sent },
  });
  for (const address of ["127.0.0.2", "127.0.0.3"]) {
    const { socket, send } = open(address);
    socket.pause();
    send.call({ socket }, "GET /large HTTP/1.1", "Host: test", "", "");
  }
  await until(() => begun.length === 2);
  const answer = fetch(`${url}/large`);
  await until(() => {
    sent.check(); // stands for the next second
    return begun.length === 3;
  });
  assert.deepEqual(
    begun.map(({ destroyed }) => destroyed),
    [true, true, false],
  );
  assert.equal((await (await answer).arrayBuffer()).byteLength, body.length);
});
