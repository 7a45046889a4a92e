import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { MAX_CONTAINERS } from "../../../src/core/json/long-json.ts";
import { CONTAINER_BYTES, costOf } from "../../../src/http/bodies/body-cost.ts";
import { BodyBudget } from "../../../src/http/bodies/body-budget.ts";
import { BodyPieces } from "../../../src/http/bodies/body-pieces.ts";
import { later, type Settle } from "../../../src/http/reply.ts";
import { route } from "../../../src/http/route.ts";
import { serve, until } from "../serve.ts";

const KIB = 1024;
const SENDER = { party: ["portal", "default", "127.0.0.1"] };
const piecesOf = (budget: BodyBudget): BodyPieces => new BodyPieces(budget, SENDER, assert.ifError);

/** A row whose requests are answered when the test says so. */
function slowRow(
  settles: { push(settle: Settle): void },
  holdsBody: { holdsBody?: true } = { holdsBody: true },
) {
  const free = { type: "object", additionalProperties: true } as const;
  return route({
    surfaces: ["portal"],
    access: "open",
    summary: "s",
    tags: ["t"],
    method: "POST",
    path: "/slow",
    body: free,
    replies: { 200: free },
    ...holdsBody,
    handle: () => later((settle) => settles.push(settle)),
  });
}

/** A JSON text of exactly `bytes` bytes. */
function jsonOf(bytes: number): string {
  return `{"a":"${"x".repeat(bytes - 8)}"}`;
}

test("large bodies are processed in turns, and small ones overtake them", async (t) => {
  const settles: Settle[] = [];
  const budget = new BodyBudget(8 << 20, 1 << 20);
  const { open } = await serve(t, [slowRow(settles)], { bodyBudget: budget });
  const bodies = [jsonOf(900 * KIB), jsonOf(800 * KIB), jsonOf(700 * KIB), "{}"];
  const connections = bodies.map((body) => {
    const connection = open();
    connection.post("/slow", body);
    return connection;
  });
  const areWaiting = (): boolean => budget.held >= 1_500 * KIB;
  await until(() => settles.length > 2 || (settles.length === 2 && areWaiting()));
  assert.equal(settles.length, 2, "one of the large ones, and the small one");
  assert.equal(budget.inWork, 256 * KIB, "no body counts more than this");
  for (let answered = 0; answered < bodies.length; answered++) {
    await until(() => settles.length > answered);
    assert.ok(budget.inWork <= 1 << 20);
    settles[answered]?.(undefined, {});
  }
  for (const connection of connections) assert.equal((await connection.next()).status, 200);
  assert.deepEqual([budget.inWork, budget.held], [0, 0]);
});

test("bodies of a usual batch take turns too, even if each arrives in one piece", async (t) => {
  const settles: Settle[] = [];
  const budget = new BodyBudget(8 << 20, 384 * KIB);
  const { open } = await serve(t, [slowRow(settles)], { bodyBudget: budget });
  const connections = Array.from({ length: 8 }, () => open());
  for (const connection of connections) connection.post("/slow", jsonOf(20 * KIB));
  const areWaiting = (): boolean => budget.held >= 5 * 20 * KIB;
  await until(() => settles.length > 3 || (settles.length === 3 && areWaiting()));
  assert.equal(settles.length, 3);
  for (let answered = 0; answered < connections.length; answered++) {
    await until(() => settles.length > answered);
    assert.ok(settles.length <= answered + 3, `${settles.length} at a time`);
    settles[answered]?.(undefined, {});
  }
  for (const connection of connections) assert.equal((await connection.next()).status, 200);
  assert.equal(budget.inWork, 0);
});

/** A JSON text with `count` empty objects. */
function emptyObjects(count: number): string {
  return `{"a":[${Array(count).fill("{}").join()}]}`;
}

test("short bodies of very many objects take turns too, in one piece and as gzip", async (t) => {
  const settles: Settle[] = [];
  const budget = new BodyBudget(8 << 20, 384 * KIB);
  const { open } = await serve(t, [slowRow(settles)], { bodyBudget: budget });
  const body = emptyObjects(5_000); // 15 KiB, which cost 132 KiB
  const gzip = gzipSync(body);
  const connections = [open(), open(), open(), open()];
  for (const [i, connection] of connections.entries()) {
    if (i % 2 === 0) connection.post("/slow", body);
    else connection.post("/slow", gzip, "Content-Encoding: gzip");
  }
  for (let answered = 0; answered < connections.length; answered++) {
    await until(() => settles.length > answered);
    assert.equal(settles.length, answered + 1, "one at a time");
    assert.ok(budget.inWork > 90 * KIB && budget.inWork < 256 * KIB, `${budget.inWork}`);
    settles[answered]?.(undefined, {});
  }
  for (const connection of connections) assert.equal((await connection.next()).status, 200);
  assert.equal(budget.inWork, 0);
});

test("each object and list adds to the cost of a body, in whatever pieces it arrives", () => {
  const text = Buffer.from(emptyObjects(3_000));
  const cost = text.length + 3_002 * CONTAINER_BYTES;
  assert.equal(costOf([text]), cost);
  for (const size of [7, 1_000, text.length]) {
    const pieces = piecesOf(new BodyBudget(8 << 20));
    for (let at = 0; at < text.length; at += size) pieces.add(text.subarray(at, at + size));
    assert.equal(pieces.cost, cost);
  }
  assert.equal(costOf([Buffer.from(jsonOf(1_000))]), 1_000 + CONTAINER_BYTES);
});

test("a body of very many objects has the limits of long ones, whatever its length", async (t) => {
  const row = slowRow({ push: (settle) => settle(undefined, {}) });
  const { url } = await serve(t, [row]);
  const statusOf = async (count: number): Promise<number> => {
    const headers = { "content-type": "application/json" };
    const body = emptyObjects(count);
    return (await fetch(`${url}/slow`, { method: "POST", body, headers })).status;
  };
  assert.equal(await statusOf(MAX_CONTAINERS - 2), 200);
  assert.equal(await statusOf(MAX_CONTAINERS - 1), 400);
});

test("a handler that waits without holding the budget lets the next large body begin", async (t) => {
  const settles: Settle[] = [];
  const budget = new BodyBudget(8 << 20, 1 << 20);
  const { open } = await serve(t, [slowRow(settles, {})], { bodyBudget: budget });
  const connections = [open(), open()];
  for (const connection of connections) connection.post("/slow", jsonOf(900 * KIB));
  await until(() => settles.length === 2);
  assert.equal(budget.inWork, 0);
  for (const settle of settles) settle(undefined, {});
  for (const connection of connections) assert.equal((await connection.next()).status, 200);
  assert.equal(budget.inWork, 0);
});

test("at most one large body begins in each turn of the event loop", async () => {
  const budget = new BodyBudget(8 << 20);
  let begun = 0;
  for (let body = 0; body < 3; body++) {
    budget.work(SENDER, 300 * KIB, (release) => {
      begun++;
      release();
    });
  }
  for (const expected of [1, 2, 3]) {
    assert.equal(begun, expected);
    await turn();
  }
});

test("a sender of many bodies delays another one by a body, and a smaller body passes no larger one", async () => {
  const budget = new BodyBudget(8 << 20, 1 << 20);
  const order: string[] = [];
  const send = (address: string, bytes: number) =>
    budget.work({ party: ["public", "default", address] }, bytes, (release) => {
      order.push(`${address} ${bytes / KIB}`);
      setImmediate(release);
    });
  for (let i = 0; i < 4; i++) send("10.0.0.1", 300 * KIB);
  send("10.0.0.2", 1_025 * KIB);
  send("10.0.0.2", 20 * KIB);
  for (let i = 0; i < 20; i++) await turn();
  assert.deepEqual(order, [
    "10.0.0.1 300",
    "10.0.0.1 300",
    "10.0.0.2 1025",
    "10.0.0.1 300",
    "10.0.0.2 20",
    "10.0.0.1 300",
  ]);
});

/** Sends large bodies that do not end, with their senders and mebibytes. Returns those that begin. */
async function begunOf(sent: readonly (readonly [sender: string, mib: number])[]) {
  const budget = new BodyBudget(64 << 20, 12 << 20);
  const begun: string[] = [];
  for (const [sender, mib] of sent) {
    budget.work({ party: sender.split(" ") }, mib << 20, () => begun.push(`${sender} ${mib}`));
    await turn(); // one begins in each turn
  }
  return begun;
}

test("a user, an organization and a prefix leave room for the large bodies of others", async () => {
  const begun = await begunOf([
    ["public default a", 2],
    ["public default a", 1], // waits: a user has a sixth
    ["public default b", 1],
    ["public default c", 2], // waits: an organization has a third
    ["public default b", 1], // waits: it does not pass the one before it
    ["public acme d", 2],
    ["public other e", 2],
    ["public more f", 2],
    ["public last g", 1], // waits: a prefix has three quarters
    ["v1 acme h", 1],
  ]);
  assert.deepEqual(begun, [
    "public default a 2",
    "public default b 1",
    "public acme d 2",
    "public other e 2",
    "public more f 2",
    "v1 acme h 1",
  ]);
});

test("the largest body leaves room to others of its organization", async () => {
  const begun = await begunOf([
    ["v1 evil a", 10],
    ["v1 evil b", 10], // waits, but not those without a body in work
    ["v1 evil c", 1],
    ["v1 acme d", 1],
  ]);
  assert.deepEqual(begun, ["v1 evil a 10", "v1 evil c 1", "v1 acme d 1"]);
});

const attacks: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
  "one address with four organizations": [["a"], ["e", "f", "g", "h"]],
  "two addresses with two organizations": [
    ["a", "b"],
    ["e", "f"],
  ],
};
for (const [name, [addresses, organizations]] of Object.entries(attacks)) {
  test(`${name} leaves room for the largest bodies of others`, async () => {
    const { send, atWork, passSecond } = budgetByHand();
    for (const organization of organizations) {
      for (const address of addresses) {
        for (const prefix of ["v1", "public"])
          await send(`${prefix} ${organization} ${address}`, 7);
      }
      await passSecond();
    }
    const begun = atWork();
    await send("v1 acme c", 7);
    await passSecond();
    await send("public acme d", 7);
    assert.deepEqual(atWork(), [...begun, "v1 acme c", "public acme d"]);
  });
}

test("a large body that waits is passed by others, but not for ever", async () => {
  const budget = new BodyBudget(64 << 20, 12 << 20);
  const release: (() => void)[] = [];
  let begun = 0;
  const post = (address: string): void => {
    const party = ["v1", "evil", address];
    const begin = (end: () => void): void => {
      begun++;
      release.push(end);
    };
    budget.work({ party }, 1 << 20, begin);
  };
  for (let i = 0; i < 6; i++) {
    post(`${i}`);
    await turn();
  }
  let isBegun = false;
  budget.work({ party: ["v1", "evil", "large"] }, 3 << 20, () => (isBegun = true));
  for (let i = 0; !isBegun && i < 100; i++) {
    release.shift()?.();
    await turn();
    if (!isBegun) post(`${i % 6}`);
    await turn();
  }
  assert.ok(isBegun);
  assert.ok(begun > 4 && begun < 12, `${begun}`);
});

/** A budget of 12 MiB at work, which looks at them when the test says so. */
function budgetByHand() {
  let look = (): void => {};
  const budget = new BodyBudget(64 << 20, 12 << 20, (given) => {
    look = given;
    return () => (look = () => {});
  });
  const working = new Map<string, (() => void)[]>();
  return {
    budget,
    /** The names of the bodies at work. */
    atWork: () => [...working].flatMap(([name, all]) => all.map(() => name)),
    async send(name: string, mib: number): Promise<void> {
      budget.work({ party: name.split(" ") }, mib * (1 << 20), (release) => {
        working.set(name, [...(working.get(name) ?? []), release]);
      });
      await turn();
    },
    async end(name: string): Promise<void> {
      working.get(name)?.pop()?.();
      for (let i = 0; i < 3; i++) await turn();
    },
    async passSecond(): Promise<void> {
      for (let i = 0; i < 2; i++) look();
      for (let i = 0; i < 3; i++) await turn();
    },
  };
}

test("one organization's bodies do not hold up those of another one behind the same address", async () => {
  const { send, atWork, passSecond } = budgetByHand();
  for (const name of ["v1 evil proxy", "public default proxy"]) await send(name, 8);
  await passSecond();
  const begun = atWork();
  assert.equal(begun.length, 2);
  await send("v1 acme proxy", 0.3);
  await send("v1 other c", 7);
  assert.deepEqual(atWork(), [...begun, "v1 acme proxy", "v1 other c"]);
});

test("the first small body of a user begins beside any bodies of others of its address", async () => {
  const { send, atWork, passSecond } = budgetByHand();
  for (const name of ["v1 e proxy", "v1 f proxy", "public default proxy"]) await send(name, 8);
  await passSecond();
  const begun = atWork();
  assert.equal(begun.length, 3);
  await send("v1 acme proxy", 0.1);
  assert.deepEqual(atWork(), [...begun, "v1 acme proxy"]);
});

test("a body that waits for another one of its user holds up nobody else", async () => {
  const { send, end, atWork } = budgetByHand();
  await send("v1 evil a", 7);
  await send("public default a", 7);
  await send("public default a", 7); // waits for the one before it, and would not fit beside both either
  let passed = 0;
  for (; passed < 100; passed++) {
    await send("v1 acme b", 1);
    if (!atWork().includes("v1 acme b")) break;
    await end("v1 acme b");
  }
  assert.equal(passed, 100);
});

test("what passes a body that waits for room is counted, also where it stands before it in the line", async () => {
  const { send, end, atWork } = budgetByHand();
  await send("v1 evil a", 3);
  await send("public default a", 3);
  await send("v1 acme colleague", 0.5);
  await send("v1 acme large", 3);
  const begins = (): boolean => atWork().includes("v1 acme large");
  for (let i = 0; i < 10 && !begins(); i++) {
    const name = i % 2 === 0 ? "v1 evil a" : "public default a";
    await send(name, 3);
    await end(name);
  }
  assert.ok(begins());
});

test("a body that takes longer than a second leaves its room to others, but not to its user", async () => {
  const { budget, send, end, atWork, passSecond } = budgetByHand();
  const first = ["v1 evil a", "public default b", "v1 other c", "public other d"];
  for (const name of first) await send(name, 3);
  await send("v1 evil e", 3);
  await send("v1 acme f", 3);
  assert.deepEqual(atWork(), first);
  await passSecond();
  assert.deepEqual(atWork(), [...first, "v1 acme f", "v1 evil e"]);
  await send("v1 evil a", 1);
  assert.equal(atWork().length, 6, "its user has a larger one");
  await end("v1 acme f");
  await end("v1 evil a");
  assert.equal(atWork().filter((name) => name === "v1 evil a").length, 1);
  for (const name of atWork()) await end(name);
  assert.deepEqual([budget.inWork, atWork()], [0, []]);
});

test("the second room has parts of the same size", async () => {
  const { send, atWork, passSecond } = budgetByHand();
  for (const user of ["a", "b", "c", "d", "e", "f"]) {
    await send(`v1 evil ${user}`, 2);
    await passSecond();
  }
  assert.equal(atWork().length, 4, "two in each room");
  await send("v1 acme g", 2);
  await send("v1 other h", 2);
  await send("v1 more i", 2);
  assert.equal(atWork().length, 6, "a prefix has three quarters");
  await passSecond();
  assert.equal(atWork().length, 7);
});

test("where slow bodies fill both rooms, the small ones of users without any begin, but not without end", async () => {
  const { send, atWork, passSecond } = budgetByHand();
  for (const round of ["0", "1"]) {
    for (const user of ["v1 evil a", "v1 evil b", "v1 other c", "v1 more d", "public evil e"]) {
      await send(user + round, 2);
    }
    for (const user of ["v1 more f", "public other g"]) await send(user + round, 1);
    await passSecond();
  }
  assert.equal(atWork().length, 14);
  await send("v1 evil a0", 0.25);
  await send("v1 acme large", 0.26);
  assert.equal(atWork().length, 14, "its user has one, or it is too large");
  for (let i = 0; i < 40; i++) {
    await send(`v1 acme ${i}`, 0.25);
    await passSecond();
  }
  assert.equal(atWork().length, 14 + 9, "a quarter of the part of the prefix");
});

test("a body whose client leaves while it waits is given up", async (t) => {
  const settles: Settle[] = [];
  const budget = new BodyBudget(8 << 20, 1 << 20);
  const { open } = await serve(t, [slowRow(settles)], { bodyBudget: budget });
  const [first, second] = [open(), open()];
  first.post("/slow", jsonOf(900 * KIB));
  await until(() => settles.length === 1);
  second.post("/slow", jsonOf(900 * KIB));
  await until(() => budget.held >= 900 * KIB);
  second.socket.destroy();
  await until(() => budget.held === 0);
  settles[0]?.(undefined, {});
  assert.equal((await first.next()).status, 200);
  assert.equal(settles.length, 1);
});

test("the blocks of large bodies are lent and returned, and the memory of a flood is freed", () => {
  const budget = new BodyBudget(64 << 20);
  const { memory } = budget;
  const flood = Array.from({ length: 8 }, () => piecesOf(budget));
  const chunk = Buffer.alloc(64 * KIB, "x");
  for (let i = 0; i < 100; i++) for (const pieces of flood) assert.ok(pieces.add(chunk));
  assert.ok(memory.lent >= 796 && memory.lent <= 808, `${memory.lent}`);
  assert.ok(budget.held >= 800 * chunk.length);
  const [first, ...others] = flood;
  for (const pieces of others) pieces.free();
  const next = piecesOf(budget);
  assert.ok(next.add(chunk) && next.add(chunk));
  assert.ok(memory.touched <= 808, "what came back is lent again");
  next.free();
  first?.free();
  assert.deepEqual([memory.lent, memory.touched, budget.held], [0, 0, 0]);
});

test("a body that arrives in pieces of any size is joined as it was sent", () => {
  const budget = new BodyBudget(8 << 20);
  const sent = randomBytes(1 << 20);
  for (const sizes of [[1], [700], [64 * KIB], [100_000], [1, 64 * KIB, 3, 70_000]]) {
    const pieces = piecesOf(budget);
    const end = sizes[0] === 1 && sizes.length === 1 ? 3_000 : sent.length;
    for (let at = 0, i = 0; at < end; i++) {
      const size = Math.min(sizes[i % sizes.length] as number, end - at);
      assert.ok(pieces.add(sent.subarray(at, at + size)));
      at += size;
    }
    assert.equal(pieces.length, end);
    assert.ok(pieces.join().equals(sent.subarray(0, end)), `${sizes}`);
    pieces.free();
  }
  assert.equal(budget.held, 0);
});

test("the garbage collector gets hints after large bodies, not after usual ones", async () => {
  const budget = new BodyBudget(64 << 20, 12 << 20);
  const work = async (bytes: number): Promise<void> => {
    budget.work(SENDER, bytes, (release) => release());
    await turn();
  };
  for (let i = 0; i < 8; i++) await work(1 << 19);
  assert.equal(budget.memory.hints, 0);
  await work(2 << 20);
  assert.equal(budget.memory.hints, 1);
  await work(5 << 20);
  assert.equal(budget.memory.hints, 3);
});

test("the memory of inflating is counted too", async (t) => {
  const budget = new BodyBudget(100 * KIB);
  const served = await serve(t, [slowRow({ push: (settle) => settle(undefined, {}) })], {
    bodyBudget: budget,
  });
  const half = gzipSync("{}").subarray(0, 12);
  const head = `POST /slow HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n`;
  const slow = [1, 2].map(() => {
    const connection = served.open();
    connection.socket.write(`${head}Content-Encoding: gzip\r\nContent-Length: 100\r\n\r\n`);
    connection.socket.write(half);
    return connection;
  });
  await until(() => budget.held >= 96 * KIB);
  const url = `${served.url}/slow`;
  const options = {
    method: "POST",
    body: gzipSync("{}"),
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
  };
  assert.equal((await fetch(url, options)).status, 503);
  for (const { socket } of slow) socket.destroy();
  await until(() => budget.held === 0);
  assert.equal((await fetch(url, options)).status, 200);
});
