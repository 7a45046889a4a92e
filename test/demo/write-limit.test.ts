import assert from "node:assert/strict";
import { test } from "node:test";
import { TooMany } from "../../src/core/errors.ts";
import { createWriteLimit } from "../../src/demo/write-limit.ts";
import type { RouteDescription } from "../../src/http/route.ts";
import { routes } from "../../src/routes.ts";

function rowOf(method: string, path: string): RouteDescription {
  const row = routes.find((one) => one.method === method && one.path === path);
  assert.ok(row);
  return row;
}

const write = rowOf("POST", "/fleet/heartbeat");

/** A limit of three with its own clock, and a function that tries one more write. */
function limitOfThree(): {
  takes: (address: string, row?: RouteDescription) => boolean;
  wait: (address: string) => number;
  advance: (ms: number) => void;
} {
  let now = 1_000_000;
  const count = createWriteLimit(3, () => now);
  const refusal = (address: string, row: RouteDescription): TooMany | undefined => {
    try {
      count(row, "public", address);
      return undefined;
    } catch (error) {
      assert.ok(error instanceof TooMany);
      return error;
    }
  };
  return {
    takes: (address, row = write) => refusal(address, row) === undefined,
    wait: (address) => refusal(address, write)?.retryAfterSeconds ?? 0,
    advance: (ms) => (now += ms),
  };
}

test("a write beyond the limit is refused until the first is a minute old", () => {
  const limit = limitOfThree();
  assert.ok(limit.takes("192.0.2.1"));
  limit.advance(20_000);
  assert.ok(limit.takes("192.0.2.1"));
  assert.ok(limit.takes("192.0.2.1"));
  assert.equal(limit.wait("192.0.2.1"), 40);
  limit.advance(39_999);
  assert.equal(limit.wait("192.0.2.1"), 1);
  limit.advance(1);
  assert.ok(limit.takes("192.0.2.1"));
  assert.equal(limit.wait("192.0.2.1"), 20);
});

test("addresses are counted separately, and an IPv6 /64 counts as one", () => {
  const limit = limitOfThree();
  for (const host of ["1", "2", "ffff"]) assert.ok(limit.takes(`2001:db8:0:1::${host}`));
  assert.ok(!limit.takes("2001:db8:0:1::3"));
  assert.ok(limit.takes("2001:db8:0:2::3"));
  assert.ok(limit.takes("192.0.2.1"));
});

test("reading, validating, simulating and the other surfaces are not counted", () => {
  const limit = limitOfThree();
  const free = [
    rowOf("GET", "/fleet"),
    rowOf("POST", "/policies/validate"),
    rowOf("POST", "/policies/simulate"),
    rowOf("POST", "/policies/draft-rule"),
    rowOf("POST", "/policies/replay"),
  ];
  for (const row of free) for (let i = 0; i < 5; i++) assert.ok(limit.takes("192.0.2.1", row));
  const count = createWriteLimit(1, () => 0);
  for (let i = 0; i < 5; i++) count(write, "v1", "192.0.2.1");
});

test("ten thousand addresses are remembered; beyond that, the one that wrote longest ago is dropped", () => {
  const limit = limitOfThree();
  for (let i = 0; i < 3; i++) assert.ok(limit.takes("192.0.2.1"));
  const others = (count: number, from: number): void => {
    for (let i = from; i < from + count; i++)
      limit.takes(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  };
  others(9_999, 0);
  assert.ok(!limit.takes("192.0.2.1"));
  others(1, 9_999);
  assert.ok(limit.takes("192.0.2.1"));
});
