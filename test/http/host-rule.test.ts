import assert from "node:assert/strict";
import { test } from "node:test";
import { hostRule } from "../../src/http/host-rule.ts";

const settings = {
  host: "127.0.0.1",
  baseUrl: "https://Signalbox.example.com:8443/box",
  allowedHosts: ["box.internal", "192.0.2.7", "2001:db8::7"],
};

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
    const isAllowed = hostRule(settings);
    assert.equal(isAllowed?.(host), true);
    assert.equal(isAllowed?.(host), true);
  });
}

for (const host of OTHERS) {
  test(`on loopback ${JSON.stringify(host)} is not answered`, () => {
    assert.equal(hostRule(settings)?.(host), false);
  });
}

for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "::1", "::ffff:127.0.0.1"]) {
  test(`${host} is loopback, and names no other`, () => {
    const isAllowed = hostRule({ host, baseUrl: undefined, allowedHosts: [] });
    assert.deepEqual([isAllowed?.("localhost"), isAllowed?.("evil.example")], [true, false]);
  });
}

for (const host of ["0.0.0.0", "::", "192.0.2.7", "box.internal"]) {
  test(`${host} is not loopback: any host is answered, until some are named`, () => {
    const { baseUrl, allowedHosts } = settings;
    assert.equal(hostRule({ host, baseUrl, allowedHosts: [] }), undefined);
    const isAllowed = hostRule({ host, baseUrl, allowedHosts });
    assert.deepEqual(
      ["box.internal", "signalbox.example.com", "localhost", "evil.example"].map((name) =>
        isAllowed?.(name),
      ),
      [true, true, true, false],
    );
  });
}

test("hosts without end are not remembered without end", () => {
  const isAllowed = hostRule(settings);
  for (let i = 0; i < 1_000; i++) assert.equal(isAllowed?.(`n${i}.localhost`), true);
});
