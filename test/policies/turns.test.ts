import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "../../src/policies/turns.ts";

const turnsOf = (running: number, waiting: number) =>
  new Turns({ running, waiting, waitingOfOne: waiting });

/** Tasks that end when they are told to, and a record of those that began. */
function tasks(turns: Turns, count: number) {
  const begun: number[] = [];
  const ends: ((failed: boolean) => void)[] = [];
  const results = Array.from({ length: count }, (_, index) =>
    turns.run("acme", () => {
      begun.push(index);
      return new Promise<number>((resolve, reject) => {
        ends[index] = (failed) => (failed ? reject(new Error("failed")) : resolve(index));
      });
    }),
  );
  return { begun, ends, results };
}

test("no more tasks run at a time than there are places, and the others follow in order", async () => {
  const { begun, ends, results } = tasks(turnsOf(2, 5), 4);
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.(false);
  assert.equal(await results[1], 1);
  assert.deepEqual(begun, [0, 1, 2]);
  ends[0]?.(false);
  ends[2]?.(false);
  await results[2];
  ends[3]?.(false);
  assert.deepEqual(await Promise.all(results), [0, 1, 2, 3]);
});

test("a task that fails frees its place", async () => {
  const { begun, ends, results } = tasks(turnsOf(1, 5), 2);
  ends[0]?.(true);
  await assert.rejects(results[0] as Promise<number>, /failed/);
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.(false);
  await results[1];
});

test("the line is full when as many wait as may, and open again when one has had its turn", async () => {
  const turns = turnsOf(1, 1);
  assert.equal(turns.isFull("acme"), false);
  const { ends, results } = tasks(turns, 2);
  assert.equal(turns.isFull("acme"), true);
  ends[0]?.(false);
  await results[0];
  assert.equal(turns.isFull("acme"), false);
  ends[1]?.(false);
  await results[1];
});

test("who has many tasks in line makes another wait for one of them alone", async () => {
  const turns = turnsOf(1, 10);
  const begun: string[] = [];
  const run = (asker: string, name: string) =>
    turns.run(asker, async () => {
      begun.push(name);
      await Promise.resolve();
    });
  const many = ["a1", "a2", "a3", "a4"].map((name) => run("a", name));
  const few = [run("b", "b1"), run("c", "c1"), run("b", "b2")];
  await Promise.all([...many, ...few]);
  assert.deepEqual(begun, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("nobody takes all places in line", async () => {
  const turns = new Turns({ running: 1, waiting: 3, waitingOfOne: 2 });
  const isFull = () => ["a", "b", "c"].map((asker) => turns.isFull(asker));
  const run = (asker: string) => turns.run(asker, () => Promise.resolve());
  const tasksOfA = [run("a"), run("a"), run("a")];
  assert.deepEqual(isFull(), [true, false, false]);
  const taskOfB = run("b");
  assert.deepEqual(isFull(), [true, true, true]);
  await Promise.all([...tasksOfA, taskOfB]);
  assert.deepEqual(isFull(), [false, false, false]);
});
