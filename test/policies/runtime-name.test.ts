import assert from "node:assert/strict";
import { test } from "node:test";
import { runtimeNameOf } from "../../src/policies/runtime-name.ts";

for (const [header, name] of [
  [undefined, ""],
  ["  build-1 ", "build-1"],
  [Buffer.from("büro-😀", "utf8").toString("latin1"), "büro-😀"],
  ["b\u00fcro", "büro"],
] as const) {
  test(`the header ${JSON.stringify(header)} names the runtime ${JSON.stringify(name)}`, () => {
    assert.equal(runtimeNameOf(header), name);
  });
}
