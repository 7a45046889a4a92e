import assert from "node:assert/strict";
import { test } from "node:test";
import { nextTurn } from "../../../../src/core/timers.ts";
import { Counting } from "../../../../src/storage/postgres/audit/counting.ts";
import type { Database } from "../../../../src/storage/postgres/database.ts";

test("an organization is not counted early because others are counted", async () => {
  const counted: unknown[] = [];
  const query = async (_: string, [organization]: readonly unknown[]) => {
    counted.push(organization);
    return [{ n: 0 }];
  };
  const counting = new Counting({ query } as unknown as Database, 5);
  for (let n = 0; n < 10_000; n++) counting.grown(`o${n}`, 5);
  counting.grown("o9999", 10); // while as many organizations are known as are kept
  counting.grown("o1", 9);
  counting.grown("o2", 10);
  while (counted.length < 10_001 || counted.at(-1) !== "o2") await nextTurn();
  await counting.close();
  assert.deepEqual(counted.slice(10_000), ["o9999", "o2"]);
});
