import assert from "node:assert/strict";
import { test } from "node:test";
import { hostRule } from "../../src/http/host-rule.ts";

const settings = {
  host: "127.0.0.1",
  baseUrl: "https://Signalbox.example.com:8443/box",
  allowedHosts: ["box.internal", "192.0.2.7", "2001:db8::7"],
};

const bound = () => "127.0.0.1";

const LOOPBACK = [
  "localhost",
  "LocalHost:8080",
  "localhost.",
  "a.b.localhost:1",
  "127.0.0.1",
  "127.9.8.7:65535",
  "[::1]",
  "[0:0:0:0:0:0:0:1]:8080",
  "[::ffff:127.0.0.1]:8080",
];
const NAMED = [
  "signalbox.example.com",
  "SIGNALBOX.example.com.:99",
  "box.internal:8080",
  "192.0.2.7",
  "[2001:DB8:0::7]:1",
];
const OTHERS = [
  "",
  "evil.example",
  "localhost.evil.example",
  "evillocalhost",
  "127.0.0.1.evil.example",
  "127.evil.example",
  "0.0.0.0",
  "2130706433",
  "[::]",
  "[::2]",
  "::1",
  "localhost:8080:8080",
  "localhost:",
  "localhost, evil.example",
  "evil.example@localhost",
  "localhost@evil.example",
  "localhost/x",
  "sub.box.internal",
  "192.0.2.8",
];

for (const host of [...LOOPBACK, ...NAMED]) {
  test(`on loopback ${host} is answered, the second time too`, () => {
    const isAllowed = hostRule(settings, bound);
    assert.equal(isAllowed(host), true);
    assert.equal(isAllowed(host), true);
  });
}

for (const host of OTHERS) {
  test(`on loopback ${JSON.stringify(host)} is not answered`, () => {
    assert.equal(hostRule(settings, bound)(host), false);
  });
}

for (const address of ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"]) {
  test(`a socket bound to ${address} is on loopback, for any spelling of HOST`, () => {
    const isAllowed = hostRule(
      { host: "2130706433", allowedHosts: [], baseUrl: undefined },
      () => address,
    );
    assert.deepEqual([isAllowed("localhost"), isAllowed("evil.example")], [true, false]);
  });
}

for (const address of ["0.0.0.0", "::", "192.0.2.7"]) {
  test(`a socket bound to ${address} is not on loopback: any host is answered, unless some are configured`, () => {
    const { baseUrl, allowedHosts } = settings;
    const unnamed = { host: "127.0.0.1", baseUrl, allowedHosts: [] };
    assert.equal(hostRule(unnamed, () => address)("evil.example"), true);
    const isAllowed = hostRule({ host: "box.lan", baseUrl, allowedHosts }, () => address);
    assert.deepEqual(
      ["box.internal", "signalbox.example.com", "box.lan", "localhost", "evil.example"].map(
        isAllowed,
      ),
      [true, true, true, true, false],
    );
  });
}

test("the rule remembers a limited number of hosts", () => {
  const isAllowed = hostRule(settings, bound);
  for (let i = 0; i < 1_000; i++) assert.equal(isAllowed(`n${i}.localhost`), true);
});

test("a host that is longer than any name in the DNS is not allowed, unless every host is", () => {
  const long = `${"a.".repeat(150)}localhost`;
  assert.equal(hostRule(settings, bound)(long), false);
  assert.equal(hostRule({ ...settings, allowedHosts: [] }, () => "0.0.0.0")(long), true);
});
