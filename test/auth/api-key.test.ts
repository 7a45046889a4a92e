import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { createApiKey, hashApiKey } from "../../src/auth/api-key.ts";

test("a key is sbx_ and 32 random bytes", () => {
  const { text } = createApiKey();
  assert.match(text, /^sbx_[A-Za-z0-9_-]{43}$/);
  assert.equal(Buffer.from(text.slice(4), "base64url").length, 32);
  assert.notEqual(createApiKey().text, text);
});

test("only the SHA-256 and the first 12 characters of a key are stored", () => {
  const { text, hash, prefix } = createApiKey();
  assert.equal(hash, createHash("sha256").update(text).digest("hex"));
  assert.equal(hashApiKey(text), hash);
  assert.equal(prefix, text.slice(0, 12));
});

for (const text of ["", "sbx_", "sbx_short", `sbx_${"a".repeat(44)}`, `SBX_${"a".repeat(43)}`]) {
  test(`"${text}" cannot be a key`, () => {
    assert.equal(hashApiKey(text), undefined);
  });
}
