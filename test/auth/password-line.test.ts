import assert from "node:assert/strict";
import { test } from "node:test";
import { PasswordLine, type Lane } from "../../src/auth/password-line.ts";
import { TooMany } from "../../src/core/errors.ts";

/** A line whose hashes run until `step` is called, and the outcome of each request. */
function setUp() {
  let ms = 1_800_000_000_000;
  const line = new PasswordLine(() => ms);
  const served: string[] = [];
  const refused: string[] = [];
  let finish: (() => void) | undefined;
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const ask = (
    name: string,
    party: string,
    { lane = "fresh" as Lane, wide = "", gone = new AbortController().signal } = {},
  ): void => {
    const parties = [{ key: party }, ...(wide ? [{ key: wide, isWide: true } as const] : [])];
    const task = async (): Promise<void> => {
      served.push(name);
      await new Promise<void>((resolve) => (finish = resolve));
      if (name.startsWith("guess")) line.failed(parties);
      if (name.startsWith("right")) line.succeeded(parties);
    };
    line.run(lane, parties, task, gone).catch((error: unknown) => {
      assert.ok(gone.aborted || (error instanceof TooMany && error.retryAfterSeconds > 0));
      refused.push(name);
    });
  };
  /** Ends `count` hashes, one after the other. */
  const step = async (count = 1): Promise<void> => {
    for (let i = 0; i < count; i++) {
      finish?.();
      await settle();
    }
  };
  return { ask, step, served, refused, settle, advance: (by: number) => void (ms += by) };
}

test("one hash runs at a time, and the requests of one network are served in their order", async () => {
  const { ask, step, served } = setUp();
  for (const name of ["a", "b", "c"]) ask(name, "one");
  assert.deepEqual(served, ["a"]);
  await step();
  assert.deepEqual(served, ["a", "b"]);
  await step(3);
  assert.deepEqual(served, ["a", "b", "c"]);
  ask("d", "one");
  assert.deepEqual(served, ["a", "b", "c", "d"]);
});

test("networks take turns: a network with many requests delays another by one hash", async () => {
  const { ask, step, served } = setUp();
  for (const name of ["a1", "a2", "a3", "a4"]) ask(name, "a");
  ask("b1", "b");
  await step(2);
  assert.deepEqual(served, ["a1", "b1", "a2"]);
});

for (const networks of [14, 200]) {
  test(`during guesses from ${networks} networks a clean network is served next`, async () => {
    const { ask, step, served, refused } = setUp();
    let guesses = 0;
    const guess = (): void => {
      for (let i = 0; i < networks; i++) ask(`guess ${guesses++}`, `attacker ${i}`);
    };
    guess();
    await step(30);
    guess();
    guess();
    ask("right", "clean");
    guess();
    await step(2);
    assert.ok(served.includes("right"), `${served.slice(-2).join()} came first`);
    assert.ok(!refused.includes("right"));
  });
}

test("a network that failed long ago is clean again", async () => {
  const { ask, step, served, advance } = setUp();
  ask("guess", "a");
  await step();
  advance(30 * 60_000);
  for (const name of ["b1", "b2"]) ask(name, "b");
  ask("a1", "a");
  await step();
  assert.deepEqual(served, ["guess", "b1", "a1"]);
});

test("a network with one failure comes before networks with many", async () => {
  const { ask, step, served } = setUp();
  for (let i = 0; i < 3; i++) ask("guess", "attacker");
  await step(3);
  ask("guess", "mistyped");
  await step();
  ask("busy", "other");
  ask("guess", "attacker");
  ask("right", "mistyped");
  ask("guess", "attacker");
  await step(2);
  assert.deepEqual(served.slice(-3), ["busy", "right", "guess"]);
});

test("of equal requests the newest is served first", async () => {
  const { ask, step, served, advance } = setUp();
  for (const name of ["busy", "first", "second"]) {
    ask(name, name);
    advance(10_000);
  }
  ask("third", "third");
  await step();
  assert.deepEqual(served, ["busy", "third"]);
});

for (const lane of ["known", "setting"] as const) {
  test(`of equal requests the oldest is served first in the line "${lane}", and the newest refused`, async () => {
    const { ask, step, served, refused, settle, advance } = setUp();
    ask("busy", "busy");
    for (let i = 1; i <= 51; i++) {
      ask(`${i}`, `net ${i}`, { lane });
      advance(100);
    }
    await settle();
    assert.deepEqual(refused, ["51"]);
    await step(3);
    assert.deepEqual(served, ["busy", "1", "2", "3"]);
  });
}

test("in a wider network failures count a little, and requests do not", async () => {
  const { ask, step, served } = setUp();
  for (const name of ["guess 1", "right 2", "right 3"]) {
    ask(name, name, { wide: name === "guess 1" ? "dirty" : "busy" });
    await step();
  }
  ask("running", "other");
  ask("fresh in dirty", "fresh 1", { wide: "dirty" });
  ask("fresh in busy", "fresh 2", { wide: "busy" });
  ask("again", "guess 1", { wide: "dirty" });
  ask("fresh in clean", "fresh 3", { wide: "clean" });
  ask("fresh in busy too", "fresh 4", { wide: "busy" });
  await step(6);
  assert.deepEqual(served.slice(4), [
    "fresh in busy too",
    "fresh in clean",
    "fresh in busy",
    "fresh in dirty",
    "again",
  ]);
});

test("while every guess comes from a new network, a new network is served as often as hashes allow", async () => {
  const { ask, step, served, refused } = setUp();
  for (let i = 0; i < 60; i++) ask(`guess ${i}`, `attacker ${i}`);
  ask("right", "clean");
  await step();
  assert.deepEqual(served, ["guess 0", "right"]);
  assert.deepEqual(refused.slice(0, 2), ["guess 1", "guess 2"]);
});

test("any number of correct passwords do not count against a network", async () => {
  const { ask, step, served } = setUp();
  for (let i = 0; i < 20; i++) {
    ask(`right ${i}`, "office");
    await step();
  }
  ask("busy", "other");
  ask("once", "new");
  ask("colleague", "office");
  await step();
  assert.equal(served.at(-1), "colleague");
});

test("a request whose client disconnects is dropped from the line", async () => {
  const { ask, step, served, refused, settle } = setUp();
  ask("busy", "other");
  const clients = Array.from({ length: 50 }, () => new AbortController());
  for (const [i, { signal }] of clients.entries()) ask(`left ${i}`, `net ${i}`, { gone: signal });
  for (const client of clients) client.abort();
  await settle();
  assert.equal(refused.length, 50);
  ask("first", "a");
  ask("second", "b");
  await step(3);
  assert.deepEqual(served, ["busy", "second", "first"]);
  ask("too late", "other", { gone: AbortSignal.abort() });
  await settle();
  assert.equal(refused.at(-1), "too late");
});

test("at most fifty wait; in a full line the newest request of the largest network is refused", async () => {
  const { ask, refused, settle } = setUp();
  ask("running", "other");
  for (let i = 0; i < 30; i++) ask(`a${i}`, "a");
  for (let i = 0; i < 20; i++) ask(`b${i}`, "b");
  await settle();
  assert.deepEqual(refused, []);
  ask("clean", "c");
  await settle();
  assert.deepEqual(refused, ["a29"]);
  ask("a30", "a");
  await settle();
  assert.deepEqual(refused, ["a29", "a30"]);
});

test("in a full line a network with failures is refused before one with many requests", async () => {
  const { ask, step, refused, settle } = setUp();
  ask("guess", "attacker");
  await step();
  ask("running", "other");
  ask("guess again", "attacker");
  for (let i = 0; i < 49; i++) ask(`a${i}`, "a");
  ask("clean", "c");
  await settle();
  assert.deepEqual(refused, ["guess again"]);
});

test("lines take turns, and a full line does not refuse requests of other lines", async () => {
  const { ask, step, served, refused } = setUp();
  for (const lane of ["fresh", "guessed", "setting"] as const) {
    for (let i = 0; i < 60; i++) ask(lane, `${lane} ${i}`, { lane });
  }
  for (const name of ["a", "b"]) ask(name, "one", { lane: "known" });
  await step(5);
  assert.deepEqual(served, ["fresh", "a", "guessed", "setting", "fresh", "b"]);
  assert.ok(!refused.includes("a") && !refused.includes("b"));
});
