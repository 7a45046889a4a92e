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

test("a user is active, and a viewer named after the email where nothing else was given", () => {
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

test("what is shown of a user are the fields of the contract and nothing else", () => {
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

test("a deactivation ends every token, and no later activation revives them", () => {
  const inactive = changedUser(ada, { active: false }, NOW);
  assert.equal(inactive.credential_version, 2);
  assert.equal(changedUser(inactive, { active: false }, NOW).credential_version, 2);
  assert.equal(changedUser(inactive, { active: true }, NOW).credential_version, 2);
});

test("a new user needs an email and a password that may be set", () => {
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

test("a change may hold anything that may be changed, or nothing", () => {
  assert.deepEqual(userChangeBody.read({}), {});
  assert.deepEqual(userChangeBody.read({ name: "", role: null, active: false, email: "x" }), {
    active: false,
  });
  assert.throws(() => userChangeBody.read({ password: "short" }), { status: 400 });
  assert.throws(() => userChangeBody.read({ active: "no" }), { status: 400 });
});

test("a sign-in needs an email that is one, and any password", () => {
  assert.deepEqual(loginBody.read({ email: EMAIL, password: "x" }), {
    email: EMAIL,
    password: "x",
  });
  assert.throws(() => loginBody.read({ email: "ada", password: "x" }), { status: 400 });
  assert.throws(() => loginBody.read({ email: EMAIL, password: "" }), {
    message: "password: required",
  });
});

test("a password change needs the current one, whatever it is, and one that may be set", () => {
  assert.deepEqual(passwordChangeBody.read({ current: "x", password: PASSWORD }), {
    current: "x",
    password: PASSWORD,
  });
  assert.throws(() => passwordChangeBody.read({ password: PASSWORD }), { status: 400 });
  assert.throws(() => passwordChangeBody.read({ current: "x", password: "short" }), {
    status: 400,
  });
});

test("an ended token is kept until it ends by itself", () => {
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

test("the hundred and first ended token ends all that name a credential version", () => {
  const exp = 1_800_000_060;
  let draft = withEndedToken(ada, { id: "unversioned", exp, cv: undefined }, 0);
  for (let i = 0; i < 99; i++) draft = withEndedToken(draft, { id: `t${i}`, exp, cv: 1 }, 0);
  assert.equal(draft.ended_tokens?.length, 100);
  assert.equal(draft.credential_version, 1);
  const all = withEndedToken(draft, { id: "one more", exp, cv: 1 }, 0);
  assert.equal(all.credential_version, 2);
  assert.deepEqual(all.ended_tokens, [{ id: "unversioned", exp }]);
});
