import assert from "node:assert/strict";
import { test } from "node:test";
import { replaced, type Secret } from "../../../src/audit/redaction/spans.ts";

test("very many secrets are replaced in parts, with the same result", () => {
  const secrets = Array.from({ length: 1_500 }, (_, at): Secret => ({
    start: 3 * at,
    end: 3 * at + 1,
    rule: "r",
    isRest: false,
    reach: undefined,
  }));
  const work = replaced("s, ".repeat(secrets.length), secrets);

  let parts = 1;
  let part = work.next();
  for (; part.done !== true; part = work.next()) parts++;

  assert.equal(parts, 3);
  assert.equal(part.value.text, "[redacted:r], ".repeat(1_000) + "*, ".repeat(500));
  assert.deepEqual(part.value.redactions, [{ rule: "r", count: 1_500 }]);
});
