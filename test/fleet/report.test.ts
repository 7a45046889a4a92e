import assert from "node:assert/strict";
import { test } from "node:test";
import { BadInput } from "../../src/core/errors.ts";
import { heartbeatBody, registerBody } from "../../src/fleet/report.ts";

test("a heartbeat keeps its declared fields, without empty or unknown ones", () => {
  const given = { name: "a", hostname: "", os: null, version: "1", policy_version: "v", extra: 1 };
  assert.deepEqual(heartbeatBody.read(given), { name: "a", version: "1", policy_version: "v" });
});

test("a registration has no policy version", () => {
  assert.deepEqual(registerBody.read({ name: "a", policy_version: "v" }), { name: "a" });
});

test("white space around a name is dropped, white space within it stays", () => {
  assert.equal(heartbeatBody.read({ name: " \t a  b\u00a0\n" }).name, "a  b");
});

for (const name of [
  "__proto__",
  "constructor",
  "..",
  "a/b?c#d%",
  "🚦".repeat(256),
  "x".repeat(256),
]) {
  test(`the name ${JSON.stringify(name.slice(0, 12))} of ${[...name].length} is accepted`, () => {
    assert.equal(heartbeatBody.read({ name }).name, name);
  });
}

for (const name of ["x".repeat(257), "🚦".repeat(257), `${"🚦".repeat(256)}x`]) {
  test(`a name of 257 characters (${name.length} units) is refused`, () => {
    assert.throws(
      () => heartbeatBody.read({ name }),
      new BadInput("name: expected at most 256 characters"),
    );
  });
}

for (const name of [undefined, null, "", "   ", "\n"]) {
  test(`the name ${JSON.stringify(name)} counts as missing`, () => {
    assert.throws(() => registerBody.read({ name }), new BadInput("name: required"));
  });
}

for (const [field, value] of [
  ["name", 7],
  ["hostname", ["a"]],
  ["os", true],
  ["version", {}],
] as const) {
  test(`a ${field} that is not a text is refused by its name`, () => {
    assert.throws(
      () => heartbeatBody.read({ name: "a", [field]: value }),
      new BadInput(`${field}: expected a string`),
    );
  });
}

test("a field of 1,024 units is accepted, a longer one is refused", () => {
  assert.equal(heartbeatBody.read({ name: "a", os: "x".repeat(1024) }).os?.length, 1024);
  assert.throws(() => heartbeatBody.read({ name: "a", os: "x".repeat(1025) }), BadInput);
});
