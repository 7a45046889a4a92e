import assert from "node:assert/strict";
import { test } from "node:test";
import { CloseStack, openParts } from "../../src/core/close-stack.ts";

test("steps run once, the last one added first, and wait for each other", async () => {
  const done: string[] = [];
  const stack = new CloseStack();
  stack.add(() => done.push("lock"));
  stack.keep({
    async close() {
      await Promise.resolve();
      done.push("store");
    },
  });
  await Promise.all([stack.close(), stack.close()]);
  assert.deepEqual(done, ["store", "lock"]);
});

test("a step that fails does not stop the others, and every error is reported", async () => {
  const done: string[] = [];
  const stack = new CloseStack();
  stack.add(() => done.push("lock"));
  stack.add(() => Promise.reject(new Error("first")));
  stack.add(() => {
    throw new Error("second");
  });
  await assert.rejects(stack.close(), (error: unknown) => {
    assert.ok(error instanceof AggregateError);
    assert.deepEqual(
      error.errors.map((one) => (one as Error).message),
      ["second", "first"],
    );
    return true;
  });
  assert.deepEqual(done, ["lock"]);
});

test("when a part cannot be opened those before it are closed, and the first error is reported", async () => {
  const done: string[] = [];
  const failing = openParts(async (opened) => {
    opened.add(() => done.push("lock"));
    opened.add(() => Promise.reject(new Error("cannot be closed")));
    await Promise.reject(new Error("cannot be opened"));
    return {};
  });
  await assert.rejects(failing, (error: unknown) => {
    assert.ok(error instanceof AggregateError);
    assert.equal(error.message, "cannot be opened");
    assert.equal(error.errors.length, 2);
    return true;
  });
  assert.deepEqual(done, ["lock"]);
});
