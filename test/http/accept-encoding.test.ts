import assert from "node:assert/strict";
import { test } from "node:test";
import { codingFor, type ContentCoding } from "../../src/http/accept-encoding.ts";

const BOTH: ReadonlySet<ContentCoding> = new Set(["br", "gzip"]);

const cases = [
  { accept: undefined, expected: undefined },
  { accept: "", expected: undefined },
  { accept: "gzip", expected: "gzip" },
  { accept: "gzip, deflate, br", expected: "br" },
  { accept: "GZIP;Q=0.5", expected: "gzip" },
  { accept: "br;q=0.5, gzip;q=0.8", expected: "gzip" },
  { accept: "br;q=0, gzip", expected: "gzip" },
  { accept: "br;q=0.0, gzip;q=0.000", expected: undefined },
  { accept: "*", expected: "br" },
  { accept: "*;q=0", expected: undefined },
  { accept: "*;q=0.1, br;q=0", expected: "gzip" },
  { accept: "identity", expected: undefined },
  { accept: "identity;q=1, gzip;q=0.5", expected: undefined },
  { accept: "identity;q=0.5, gzip", expected: "gzip" },
  { accept: "identity;q=0, gzip;q=0.1", expected: "gzip" },
  { accept: "zstd, br;q=2, gzip", expected: "gzip" },
  { accept: "br;q=, ;;, gzip", expected: "gzip" },
  { accept: "x-gzip", expected: "gzip" },
];

for (const { accept, expected } of cases) {
  test(`Accept-Encoding ${JSON.stringify(accept)} chooses ${expected ?? "the plain bytes"}`, () => {
    assert.equal(codingFor(accept, BOTH), expected);
  });
}

test("only an available coding is chosen", () => {
  assert.equal(codingFor("br, gzip;q=0.1", new Set(["gzip"] as const)), "gzip");
  assert.equal(codingFor("br, gzip", new Set()), undefined);
});
