import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changedUser,
  draftUser,
  loginBody,
  passwordChangeBody,
  userChangeBody,
  userCreateBody,
  userOf,
  withEndedToken,
} from "../../src/users/draft.ts";
import { user } from "../../src/users/schema.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const EMAIL = "ada@example.com";
const PASSWORD = "correct horse battery";
const ada = {
  ...draftUser({ email: EMAIL, name: "Ada", role: "admin" }, "hash-1", "user-1", NOW),
  organization_id: "acme",
};

test("a user is active, and by default a viewer named after the email", () => {
  assert.deepEqual(draftUser({ email: EMAIL, name: "  " }, "hash-1", "user-1", NOW), {
    id: "user-1",
    email: EMAIL,
    name: EMAIL,
    role: "viewer",
    active: true,
    password_hash: "hash-1",
    credential_version: 1,
    created_at: "2026-11-20T12:00:00.000Z",
    updated_at: "2026-11-20T12:00:00.000Z",
  });
});

test("a user's public form has the fields of the contract and no others", () => {
  assert.deepEqual(Object.keys(userOf(ada)).sort(), Object.keys(user.properties).sort());
});

test("a new name or role keeps tokens alive", () => {
  const changed = changedUser(ada, { name: " Countess ", role: "viewer" }, NOW + 1_000);
  assert.deepEqual(changed, {
    ...ada,
    name: "Countess",
    role: "viewer",
    updated_at: "2026-11-20T12:00:01.000Z",
  });
});

test("a new password ends every token", () => {
  const changed = changedUser(ada, { passwordHash: "hash-2" }, NOW);
  assert.equal(changed.password_hash, "hash-2");
  assert.equal(changed.credential_version, 2);
});

test("a deactivation ends every token, and an activation does not revive them", () => {
  const inactive = changedUser(ada, { active: false }, NOW);
  assert.equal(inactive.credential_version, 2);
  assert.equal(changedUser(inactive, { active: false }, NOW).credential_version, 2);
  assert.equal(changedUser(inactive, { active: true }, NOW).credential_version, 2);
});

test("a new user needs a valid email and a valid password", () => {
  const read = (given: object) => () =>
    userCreateBody.read({ email: EMAIL, password: PASSWORD, ...given });
  assert.deepEqual(read({ role: "operator" })(), {
    email: EMAIL,
    password: PASSWORD,
    role: "operator",
  });
  assert.throws(read({ email: null }), { message: "email: required" });
  assert.throws(read({ email: "ada" }), { message: "email: expected an email address" });
  assert.throws(read({ password: "short" }), {
    message: "password: expected 10 to 256 characters",
  });
  assert.throws(read({ role: "root" }), { message: "role: expected admin, operator or viewer" });
});

test("a change may contain any changeable field, or none", () => {
  assert.deepEqual(userChangeBody.read({}), {});
  assert.deepEqual(userChangeBody.read({ name: "", role: null, active: false, email: "x" }), {
    active: false,
  });
  assert.throws(() => userChangeBody.read({ password: "short" }), { status: 400 });
  assert.throws(() => userChangeBody.read({ active: "no" }), { status: 400 });
});

test("a sign-in needs a valid email, and any password", () => {
  assert.deepEqual(loginBody.read({ email: EMAIL, password: "x" }), {
    email: EMAIL,
    password: "x",
  });
  assert.throws(() => loginBody.read({ email: "ada", password: "x" }), { status: 400 });
  assert.throws(() => loginBody.read({ email: EMAIL, password: "" }), {
    message: "password: required",
  });
});

test("a password change needs any current password, and a valid new one", () => {
  assert.deepEqual(passwordChangeBody.read({ current: "x", password: PASSWORD }), {
    current: "x",
    password: PASSWORD,
  });
  assert.throws(() => passwordChangeBody.read({ password: PASSWORD }), { status: 400 });
  assert.throws(() => passwordChangeBody.read({ current: "x", password: "short" }), {
    status: 400,
  });
});

test("an ended token is recorded until it expires", () => {
  const now = 1_800_000_000_000;
  const exp = now / 1_000 + 60;
  const ended = withEndedToken(ada, { id: "a", exp, cv: 1 }, now);
  assert.deepEqual(ended.ended_tokens, [{ id: "a", exp, cv: 1 }]);
  const both = withEndedToken(ended, { id: "b", exp: exp + 60, cv: 1 }, now + 59_999);
  assert.deepEqual(
    both.ended_tokens?.map(({ id }) => id),
    ["a", "b"],
  );
  const later = withEndedToken(both, { id: "c", exp: exp + 60, cv: 1 }, now + 60_000);
  assert.deepEqual(
    later.ended_tokens?.map(({ id }) => id),
    ["b", "c"],
  );
  assert.equal(later.credential_version, ada.credential_version);
});

test("the 101st ended token ends all tokens with a credential version", () => {
  const exp = 1_800_000_060;
  let draft = withEndedToken(ada, { id: "unversioned", exp, cv: undefined }, 0);
  for (let i = 0; i < 99; i++) draft = withEndedToken(draft, { id: `t${i}`, exp, cv: 1 }, 0);
  assert.equal(draft.ended_tokens?.length, 100);
  assert.equal(draft.credential_version, 1);
  const all = withEndedToken(draft, { id: "one more", exp, cv: 1 }, 0);
  assert.equal(all.credential_version, 2);
  assert.deepEqual(all.ended_tokens, [{ id: "unversioned", exp }]);
});
