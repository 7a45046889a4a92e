import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenId, verifyToken, type Claims } from "../../src/auth/jwt.ts";
import { createTokenIssuer } from "../../src/auth/tokens.ts";

const SECRET = "a secret of more than thirty-two bytes";
const subject = {
  id: "user-1",
  email: "ada@example.com",
  role: "admin",
  organization_id: "acme",
  credential_version: 3,
};

test("a token names its user and expires after the given hours", () => {
  const { token, expiresAt } = createTokenIssuer(SECRET, 24, () => 1_800_000_000_999).issue(
    subject,
  );
  assert.equal(expiresAt, 1_800_086_400_000);
  const { jti, ...claims } = verifyToken(token, SECRET, 1_800_000_001) as Claims & { jti: string };
  assert.match(jti, /^[\w-]{16}$/);
  assert.deepEqual(claims, {
    sub: "user-1",
    email: "ada@example.com",
    role: "admin",
    organization_id: "acme",
    iat: 1_800_000_000,
    exp: 1_800_086_400,
    cv: 3,
  });
});

test("two tokens of one moment differ", () => {
  const issuer = createTokenIssuer(SECRET, 24, () => 1_800_000_000_000);
  assert.notEqual(tokenId(issuer.issue(subject).token), tokenId(issuer.issue(subject).token));
});

test("a lifetime may be a fraction of an hour, but at least a second", () => {
  const { expiresAt } = createTokenIssuer(SECRET, 0.000001, () => 1_800_000_000_000).issue(subject);
  assert.equal(expiresAt, 1_800_000_001_000);
});
