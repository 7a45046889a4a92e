import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eachPiece } from "../../src/core/pieces.ts";

test("a piece that was taken is not kept in memory while the next one is awaited", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const made: WeakRef<Buffer>[] = [];
  let end = (): void => {};
  const next = (): Promise<IteratorResult<Buffer, undefined>> => {
    if (made.length === 1) {
      return new Promise((resolve) => (end = () => resolve({ done: true, value: undefined })));
    }
    const value = Buffer.alloc(1 << 20);
    made.push(new WeakRef(value));
    return Promise.resolve({ value });
  };
  const lengths: number[] = [];
  const all = eachPiece({ [Symbol.asyncIterator]: () => ({ next }) }, async ({ length }) => {
    lengths.push(length);
  });
  for (let n = 0; n < 3; n++) {
    await turn();
    collect();
  }
  assert.equal(made[0]?.deref(), undefined);
  end();
  await all;
  assert.deepEqual(lengths, [1 << 20]);
});

test("a fault ends the source of the pieces", async () => {
  let ended = 0;
  async function* pieces(): AsyncGenerator<string> {
    try {
      yield "a";
      yield "b";
    } finally {
      ended++;
    }
  }
  const fault = new Error("no");
  await assert.rejects(
    eachPiece(pieces(), () => Promise.reject(fault)),
    fault,
  );
  assert.equal(ended, 1);
});
