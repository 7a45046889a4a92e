import assert from "node:assert/strict";
import { test } from "node:test";
import { checkEmail, emailKey, isEmail } from "../../src/users/email.ts";

for (const text of ["ada@example.com", "a.b+c@sub.example.co", "admin@localhost", "O'Neil@x.org"]) {
  test(`${text} is an email address`, () => assert.equal(isEmail(text), true));
}

for (const text of [
  "",
  "ada",
  "@example.com",
  "ada@",
  "ada@example..com",
  "ada@-example.com",
  "a b@example.com",
  " ada@example.com",
  "ada@example.com\n",
  "ada@exämple.com",
  "a@b@c",
]) {
  test(`${JSON.stringify(text)} is not an email address`, () => assert.equal(isEmail(text), false));
}

test("the longest address has 254 characters", () => {
  const at = (length: number) => `${"a".repeat(length - "@example.com".length)}@example.com`;
  assert.equal(isEmail(at(254)), true);
  assert.equal(isEmail(at(255)), false);
});

test("letter case does not matter", () => {
  assert.equal(emailKey("Ada@Example.COM"), emailKey("ada@example.com"));
});

test("a refusal names the place and does not repeat the text", () => {
  assert.throws(() => checkEmail("secret?", "email"), {
    status: 400,
    message: "email: expected an email address",
  });
});
