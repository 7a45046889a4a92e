import assert from "node:assert/strict";
import { test } from "node:test";
import { pathSegment } from "../../src/core/path-segment.ts";

for (const id of [".", "..", "...", "a/b?c#d%", "%2e%2e", "{id}", "é🚦"]) {
  test(`the id ${JSON.stringify(id)} is one segment for a URL parser`, () => {
    const { pathname } = new URL(`http://127.0.0.1/audit/${pathSegment(id)}`);
    const [, first, second = "", ...others] = pathname.split("/");
    assert.deepEqual([first, decodeURIComponent(second).trim(), others], ["audit", id, []]);
  });
}
