import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { jwtVerify, SignJWT } from "jose";
import { signToken, verifyToken, type Claims } from "../../src/auth/jwt.ts";
import { anyText } from "../support/any-text.ts";

const SECRET = "a secret of more than thirty-two bytes";
const NOW = 1_800_000_000;
const CLAIMS: Claims = {
  sub: "user-1",
  email: "ada@example.com",
  role: "admin",
  organization_id: "default",
  iat: NOW,
  exp: NOW + 3600,
  cv: 1,
};

function part(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return Buffer.from(text, "utf8").toString("base64url");
}

/** Signs any header and payload with the right secret, or with another. */
function forge(
  header: unknown,
  payload: unknown,
  { hash = "sha256", secret = SECRET } = {},
): string {
  const signed = `${part(header)}.${part(payload)}`;
  return `${signed}.${createHmac(hash, secret).update(signed).digest("base64url")}`;
}

function isAccepted(token: string): boolean {
  return verifyToken(token, SECRET, NOW) !== undefined;
}

const HEADER = { alg: "HS256", typ: "JWT" };

test("a token returns its claims", () => {
  assert.deepEqual(verifyToken(signToken(CLAIMS, SECRET), SECRET, NOW), CLAIMS);
});

test("any claims survive the round trip", () => {
  const text = fc.string({ minLength: 1, unit: "grapheme" });
  fc.assert(
    fc.property(text, text, text, (sub, email, secret) => {
      const claims = { ...CLAIMS, sub, email };
      assert.deepEqual(verifyToken(signToken(claims, secret), secret, NOW), claims);
    }),
  );
});

test("an independent library accepts our tokens", async () => {
  const { payload } = await jwtVerify(signToken(CLAIMS, SECRET), new TextEncoder().encode(SECRET), {
    algorithms: ["HS256"],
    currentDate: new Date(NOW * 1000),
  });
  assert.deepEqual(payload, CLAIMS);
});

test("tokens of an independent library are accepted", async () => {
  const token = await new SignJWT({ ...CLAIMS })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(SECRET));
  assert.deepEqual(verifyToken(token, SECRET, NOW), CLAIMS);
});

test("a token with any one character changed is refused", () => {
  const token = signToken(CLAIMS, SECRET);
  fc.assert(
    fc.property(
      fc.nat(token.length - 1),
      fc.constantFrom(..."ABCDEFabcdef0123456789-_.= ".split("")),
      (at, character) => {
        fc.pre(token[at] !== character);
        assert.equal(isAccepted(token.slice(0, at) + character + token.slice(at + 1)), false);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("any text is refused without an exception", () => {
  fc.assert(fc.property(anyText(), (text) => !isAccepted(text)));
});

test("a token without a signature is refused for every header", () => {
  assert.equal(isAccepted(`${part({ alg: "none" })}.${part(CLAIMS)}.`), false);
  assert.equal(isAccepted(`${part({ alg: "none" })}.${part(CLAIMS)}`), false);
});

test("alg none is refused even with a valid signature", () => {
  assert.equal(isAccepted(forge({ alg: "none" }, CLAIMS)), false);
});

for (const [alg, hash] of [
  ["HS384", "sha384"],
  ["HS512", "sha512"],
] as const) {
  test(`${alg} is refused`, () => {
    assert.equal(isAccepted(forge({ alg }, CLAIMS, { hash })), false);
    assert.equal(isAccepted(forge({ alg }, CLAIMS)), false);
  });
}

test("RS256 is refused", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const signed = `${part({ alg: "RS256" })}.${part(CLAIMS)}`;
  const signature = sign("sha256", Buffer.from(signed), privateKey).toString("base64url");
  assert.equal(isAccepted(`${signed}.${signature}`), false);
});

for (const alg of ["hs256", "HS256 ", "", null, ["HS256"], undefined]) {
  test(`the algorithm ${JSON.stringify(alg)} is refused`, () => {
    assert.equal(isAccepted(forge({ alg }, CLAIMS)), false);
  });
}

test("a token of another secret is refused", () => {
  assert.equal(isAccepted(signToken(CLAIMS, `${SECRET}!`)), false);
});

test("changed claims under the old signature are refused", () => {
  const [header, , signature] = signToken(CLAIMS, SECRET).split(".");
  const payload = part({ ...CLAIMS, organization_id: "acme" });
  assert.equal(isAccepted(`${header}.${payload}.${signature}`), false);
});

test("a token is valid until the second before its expiry", () => {
  const token = signToken(CLAIMS, SECRET);
  assert.notEqual(verifyToken(token, SECRET, CLAIMS.exp - 1), undefined);
  assert.equal(verifyToken(token, SECRET, CLAIMS.exp), undefined);
});

for (const exp of [undefined, null, String(NOW + 60), {}, true]) {
  test(`an exp of ${JSON.stringify(exp)} is refused`, () => {
    assert.equal(isAccepted(forge(HEADER, { ...CLAIMS, exp })), false);
  });
}

test("an infinite exp is refused", () => {
  const payload = JSON.stringify(CLAIMS).replace(String(CLAIMS.exp), "1e999");
  assert.equal(isAccepted(forge(HEADER, payload)), false);
});

test("a token that is not valid yet is refused until it is", () => {
  assert.equal(isAccepted(forge(HEADER, { ...CLAIMS, nbf: NOW + 1 })), false);
  assert.equal(isAccepted(forge(HEADER, { ...CLAIMS, nbf: NOW })), true);
});

for (const claim of ["nbf", "iat", "cv"]) {
  test(`a ${claim} that is not a number is refused`, () => {
    assert.equal(isAccepted(forge(HEADER, { ...CLAIMS, [claim]: "1" })), false);
  });
}

test("a token without a credential version is accepted", () => {
  assert.equal(isAccepted(forge(HEADER, { ...CLAIMS, cv: undefined })), true);
});

for (const claim of ["sub", "email", "role", "organization_id"]) {
  test(`a token without ${claim} is refused`, () => {
    assert.equal(isAccepted(forge(HEADER, { ...CLAIMS, [claim]: undefined })), false);
    assert.equal(isAccepted(forge(HEADER, { ...CLAIMS, [claim]: "" })), false);
    assert.equal(isAccepted(forge(HEADER, { ...CLAIMS, [claim]: { $ne: "" } })), false);
  });
}

for (const payload of ["[]", "null", '"text"', "1", "{", ""]) {
  test(`the payload ${JSON.stringify(payload)} is refused`, () => {
    assert.equal(isAccepted(forge(HEADER, payload)), false);
  });
}

for (const header of ["[]", "null", "{", '"HS256"']) {
  test(`the header ${header} is refused`, () => {
    assert.equal(isAccepted(forge(header, CLAIMS)), false);
  });
}

test("a header with critical extensions is refused", () => {
  assert.equal(isAccepted(forge({ ...HEADER, crit: ["b64"], b64: true }, CLAIMS)), false);
  assert.equal(isAccepted(forge({ ...HEADER, crit: [] }, CLAIMS)), false);
});

test("the type in the header does not matter", () => {
  assert.equal(isAccepted(forge({ alg: "HS256", typ: "at+jwt" }, CLAIMS)), true);
});

test("another number of parts than three is refused", () => {
  const token = signToken(CLAIMS, SECRET);
  assert.equal(isAccepted(`${token}.`), false);
  assert.equal(isAccepted(`.${token}`), false);
  assert.equal(isAccepted(`${token}.${part("{}")}`), false);
  assert.equal(isAccepted(token.slice(0, token.lastIndexOf("."))), false);
});

test("padding and the other base64 alphabet are refused", () => {
  const token = signToken(CLAIMS, SECRET);
  assert.equal(isAccepted(`${token}=`), false);
  assert.equal(isAccepted(` ${token}`), false);
  assert.equal(isAccepted(`${token}\n`), false);
});

test("a second spelling of the same signature is refused", () => {
  const token = signToken(CLAIMS, SECRET);
  // The last character of 32 bytes in base64url has two unused bits: setting one does not change any byte.
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(token.at(-1) ?? "");
  const twin = token.slice(0, -1) + alphabet.charAt(last + 1);
  const bytesOf = (text: string) => Buffer.from(text.split(".")[2] ?? "", "base64url");
  assert.deepEqual(bytesOf(twin), bytesOf(token));
  assert.equal(isAccepted(twin), false);
});

test("a token over 8 KiB is refused", () => {
  const sized = (length: number) => signToken({ ...CLAIMS, email: "a".repeat(length) }, SECRET);
  const fitting = sized(5_900);
  assert.ok(fitting.length <= 8_192 && isAccepted(fitting));
  const large = sized(6_100);
  assert.ok(large.length > 8_192 && !isAccepted(large));
});
