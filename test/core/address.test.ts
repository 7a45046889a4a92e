import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf } from "../../src/core/address.ts";

test("an IPv4 address stands for itself, also when it is mapped into IPv6", () => {
  assert.equal(networkOf("192.0.2.7"), "192.0.2.7");
  assert.equal(networkOf("::ffff:192.0.2.7"), "192.0.2.7");
});

for (const [address, network] of [
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:2::1", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["64:ff9b::192.0.2.7", "64:ff9b:0:0::/64"],
  ["1::2:3:4:5:192.0.2.7", "1:0:2:3::/64"],
] as const) {
  test(`${address} is one of ${network}`, () => {
    assert.equal(networkOf(address), network);
  });
}

test("what is no address is left as it is", () => {
  assert.equal(networkOf("unix socket"), "unix socket");
});
