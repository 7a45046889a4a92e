import assert from "node:assert/strict";
import { SocketAddress } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalAddress, networkOf, widerNetworkOf } from "../../src/core/address.ts";

for (const spelling of [
  "1.2.3.4",
  "::ffff:1.2.3.4",
  "::FFFF:1.2.3.4",
  "::ffff:102:304",
  "::ffff:0102:0304",
  "0:0:0:0:0:ffff:1.2.3.4",
  "0000:0000:0000:0000:0000:FFFF:0102:0304",
  "0::0:ffff:1.2.3.4",
  "::0:ffff:102:304",
  "::ffff:1.2.3.4%eth0",
]) {
  test(`${spelling} is the IPv4 address 1.2.3.4`, () => {
    assert.equal(canonicalAddress(spelling), "1.2.3.4");
    assert.equal(networkOf(spelling), "1.2.3.4");
  });
}

for (const [address, network, canonical] of [
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1:2:3:4:5:6"],
  ["2001:DB8:0001:2::1", "2001:db8:1:2::/64", "2001:db8:1:2::1"],
  ["2001:db8::1", "2001:db8:0:0::/64", "2001:db8::1"],
  ["2001:0:0:1:0:0:0:1", "2001:0:0:1::/64", "2001:0:0:1::1"],
  ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1::/64", "2001:db8:0:1:1:1:1:1"],
  ["::1", "0:0:0:0::/64", "::1"],
  ["::", "0:0:0:0::/64", "::"],
  ["fe80::1%eth0", "fe80:0:0:0::/64", "fe80::1"],
  ["FE80::1%1", "fe80:0:0:0::/64", "fe80::1"],
  ["64:ff9b::192.0.2.7", "64:ff9b:0:0::/64", "64:ff9b::c000:207"],
  ["1::2:3:4:5:192.0.2.7", "1:0:2:3::/64", "1:0:2:3:4:5:c000:207"],
] as const) {
  test(`${address} is ${canonical}, one of ${network}`, () => {
    assert.equal(networkOf(address), network);
    assert.equal(canonicalAddress(address), canonical);
  });
}

for (const text of ["unix socket", "", "a:b", "1.2.3"]) {
  test(`${JSON.stringify(text)} is not an address, and stays unchanged`, () => {
    assert.equal(networkOf(text), text);
    assert.equal(widerNetworkOf(text), text);
    assert.equal(canonicalAddress(text), text);
  });
}

test("the canonical spelling is the same address, and its own canonical spelling", () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const canonical = canonicalAddress(address);
      assert.equal(canonicalAddress(canonical), canonical);
      assert.equal(networkOf(canonical), networkOf(address));
      const family = canonical.includes(":") ? "ipv6" : "ipv4";
      const spelled = new SocketAddress({ address, family: "ipv6" }).address;
      const again = new SocketAddress({ address: canonical, family }).address;
      assert.equal(again, family === "ipv6" ? spelled : spelled.replace("::ffff:", ""));
    }),
  );
});

for (const [address, network] of [
  ["192.0.2.7", "192.0.2.0/24"],
  ["::ffff:192.0.2.7", "192.0.2.0/24"],
  ["2001:DB8:1:2::1", "2001:db8:1::/48"],
  ["2001:db8::1", "2001:db8:0::/48"],
] as const) {
  test(`${network} is the wider network of ${address}`, () => {
    assert.equal(widerNetworkOf(address), network);
  });
}
