import assert from "node:assert/strict";
import { test } from "node:test";
import { createLoginThrottle } from "../../src/auth/throttle.ts";
import { TooMany } from "../../src/core/errors.ts";

const EMAIL = "ada@example.com";
const HERE = "192.0.2.1";

function setUp() {
  let ms = 1_800_000_000_000;
  const throttle = createLoginThrottle(() => ms);
  return {
    throttle,
    advance: (by: number) => void (ms += by),
    fail: (email = EMAIL, address = HERE) => throttle.begin(email, address).failed(),
    /** Seconds to wait, or 0 when an attempt is allowed; it is not counted. */
    wait(email = EMAIL, address = HERE): number {
      try {
        throttle.begin(email, address).abandoned();
        return 0;
      } catch (error) {
        if (error instanceof TooMany) return error.retryAfterSeconds;
        throw error;
      }
    },
  };
}

test("the sixth attempt after five failures has to wait until the first is a minute old", () => {
  const { fail, wait, advance } = setUp();
  fail();
  advance(10_000);
  for (let i = 0; i < 3; i++) fail();
  assert.equal(wait(), 0);
  fail();
  assert.equal(wait(), 50);
  advance(49_999);
  assert.equal(wait(), 1);
  advance(1);
  assert.equal(wait(), 0);
});

test("an email is counted in any letter case", () => {
  const { fail, wait } = setUp();
  for (let i = 0; i < 5; i++) fail("Ada@Example.com");
  assert.notEqual(wait("ada@example.COM"), 0);
});

test("the same email may be tried from another address, and another email from the same", () => {
  const { fail, wait } = setUp();
  for (let i = 0; i < 5; i++) fail();
  assert.equal(wait(EMAIL, "192.0.2.2"), 0);
  assert.equal(wait("bob@example.com", HERE), 0);
});

test("twenty failures from one address stop it for every email", () => {
  const { fail, wait } = setUp();
  for (let i = 0; i < 19; i++) fail(`user${i}@example.com`);
  assert.equal(wait("fresh@example.com"), 0);
  fail("user19@example.com");
  assert.equal(wait("fresh@example.com"), 60);
  assert.equal(wait("fresh@example.com", "192.0.2.2"), 0);
});

test("addresses of one IPv6 network count as one", () => {
  const { fail, wait } = setUp();
  for (let i = 0; i < 5; i++) fail(EMAIL, `2001:db8::${i}`);
  assert.notEqual(wait(EMAIL, "2001:db8::ffff"), 0);
  assert.equal(wait(EMAIL, "2001:db8:0:1::1"), 0);
});

test("attempts under way count until they are abandoned", () => {
  const { throttle, wait } = setUp();
  const attempts = Array.from({ length: 5 }, () => throttle.begin(EMAIL, HERE));
  assert.equal(wait(), 1);
  attempts[0]?.abandoned();
  assert.equal(wait(), 0);
});

test("a success forgets the failures of its email and address only", () => {
  const { throttle, fail, wait } = setUp();
  for (let i = 0; i < 4; i++) fail();
  for (let i = 0; i < 5; i++) fail("bob@example.com");
  throttle.begin(EMAIL, HERE).succeeded();
  for (let i = 0; i < 4; i++) fail();
  assert.equal(wait(), 0);
  assert.notEqual(wait("bob@example.com"), 0);
});

test("an attempt that is refused does not prolong the wait", () => {
  const { fail, wait, advance } = setUp();
  for (let i = 0; i < 5; i++) fail();
  for (let i = 0; i < 60; i++) {
    assert.notEqual(wait(), 0);
    advance(1_000);
  }
  assert.equal(wait(), 0);
});

test("failures from before the clock was set back by years do not count", () => {
  const { fail, wait, advance } = setUp();
  for (let i = 0; i < 5; i++) fail();
  assert.equal(wait(), 60);
  advance(-200_000_000_000);
  assert.equal(wait(), 0);
});

test("beyond the limit the oldest addresses are dropped, so memory stays bounded", () => {
  const { fail, wait } = setUp();
  for (let i = 0; i < 5; i++) fail();
  for (let i = 0; i < 20_000; i++) fail("bob@example.com", `10.0.${i >> 8}.${i & 255}`);
  assert.equal(wait(), 0);
});
