import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptsGzip } from "../../src/http/accept-encoding.ts";

const cases = [
  { accept: undefined, expected: false },
  { accept: "", expected: false },
  { accept: "gzip", expected: true },
  { accept: "gzip, deflate, br", expected: true },
  { accept: "GZIP;Q=0.5", expected: true },
  { accept: "br, gzip;q=0.000", expected: false },
  { accept: "br", expected: false },
  { accept: "*", expected: true },
  { accept: "*;q=0", expected: false },
  { accept: "*, gzip;q=0", expected: false },
  { accept: "identity", expected: false },
  { accept: "identity;q=1, gzip;q=0.5", expected: false },
  { accept: "identity;q=0.5, gzip", expected: true },
  { accept: "identity;q=0, gzip;q=0.1", expected: true },
  { accept: "zstd, gzip;q=2", expected: false },
  { accept: "br;q=, ;;, gzip", expected: true },
  { accept: "x-gzip", expected: true },
];

for (const { accept, expected } of cases) {
  test(`Accept-Encoding ${JSON.stringify(accept)} ${expected ? "accepts" : "does not accept"} gzip`, () => {
    assert.equal(acceptsGzip(accept), expected);
  });
}

test("an Accept-Encoding that is too long to be read quickly counts as absent", () => {
  assert.ok(acceptsGzip(`${"a,".repeat(500)}gzip`));
  assert.ok(!acceptsGzip(`${"a,".repeat(512)}gzip`));
});
