import assert from "node:assert/strict";
import { test } from "node:test";
import { UndoQueue } from "../../src/storage/undo-queue.ts";

const fail = async (): Promise<never> => {
  throw new Error("disk");
};

test("tasks run one after another, and a failed one frees the next", async () => {
  const queue = new UndoQueue();
  const order: string[] = [];
  const first = queue.run(async () => {
    await new Promise(setImmediate);
    order.push("first");
  });
  const failed = queue.run(fail);
  const last = queue.run(async () => void order.push("last"));
  await assert.rejects(failed, /disk/);
  await Promise.all([first, last]);
  assert.deepEqual(order, ["first", "last"]);
});

test("a failed write is undone before the next task runs, once", async () => {
  const queue = new UndoQueue();
  const order: string[] = [];
  const failed = queue.run(() => queue.write(fail, async () => void order.push("undone")));
  await assert.rejects(failed, /disk/);
  await queue.run(async () => void order.push("task"));
  await queue.run(async () => void order.push("task"));
  assert.deepEqual(order, ["undone", "task", "task"]);
});

test("tasks fail as long as a write cannot be undone", async () => {
  const queue = new UndoQueue();
  let isBroken = true;
  const undo = async () => {
    if (isBroken) throw new Error("still broken");
  };
  await assert.rejects(
    queue.run(() => queue.write(fail, undo)),
    /disk/,
  );
  await assert.rejects(
    queue.run(async () => "never"),
    /still broken/,
  );
  isBroken = false;
  assert.equal(await queue.run(async () => "again"), "again");
});

test("a closed queue ends its tasks and refuses further ones", async () => {
  const queue = new UndoQueue();
  const order: string[] = [];
  const last = queue.run(async () => void order.push("last"));
  const closed = queue.close();
  const late = queue.run(async () => void order.push("late"));
  await assert.rejects(late, /The service is stopping/);
  await Promise.all([last, closed]);
  assert.deepEqual(order, ["last"]);
});

test("a write that succeeds is not undone", async () => {
  const queue = new UndoQueue();
  await queue.run(() => queue.write(async () => {}, fail));
  assert.equal(await queue.run(async () => "fine"), "fine");
});

test("a queue reports its failure until it is undone; `recover` retries the undo", async () => {
  const queue = new UndoQueue();
  let isBroken = true;
  const undo = async () => {
    if (isBroken) throw new Error("still broken");
  };
  assert.equal(queue.failure, undefined);
  await assert.rejects(queue.run(() => queue.write(fail, undo)));
  assert.match(String(queue.failure), /disk/);
  queue.recover();
  await new Promise(setImmediate);
  assert.match(String(queue.failure), /still broken/);
  isBroken = false;
  queue.recover();
  await new Promise(setImmediate);
  assert.equal(queue.failure, undefined);
});

test("closing a queue retries the undo once more", async () => {
  const queue = new UndoQueue();
  let isUndone = false;
  const write = () => queue.write(fail, async () => void (isUndone = true));
  await assert.rejects(queue.run(write));
  await queue.close();
  assert.ok(isUndone);
});
