import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createPasswords } from "../../src/auth/password.ts";
import { createLoginThrottle } from "../../src/auth/throttle.ts";
import { FileOrganizations } from "../../src/storage/files/organizations.ts";
import { changedUser, draftUser } from "../../src/users/draft.ts";
import { ensureFirstAdmin } from "../../src/users/first-admin.ts";
import { changePassword, signIn } from "../../src/users/sign-in.ts";
import { breakableDisk } from "../storage/files/breakable-disk.ts";

const EMAIL = "ada@example.com";
const PASSWORD = "correct horse battery";
const HERE = "192.0.2.1";
const now = () => 1_800_000_000_000;

async function setUp(t: TestContext) {
  const { files, layout } = await breakableDisk(t);
  const { users } = await FileOrganizations.open(files, layout, now);
  const passwords = createPasswords({ now, cost: 16 });
  const services = { users, passwords, throttle: createLoginThrottle(now) };
  const draft = draftUser({ email: EMAIL }, await passwords.hash(PASSWORD), "ada", now());
  await users.create("default", { ...draft, organization_id: "default" });
  return {
    users,
    services,
    enter: (email = EMAIL, password = PASSWORD) =>
      signIn(services, { email, address: HERE }, password),
    change: (current: string, password: string) =>
      changePassword(
        services,
        { organization: "default", actor: { id: "ada" }, address: HERE },
        { current, password },
        now,
      ),
  };
}

test("email and password lead to the user, whatever the email's letter case", async (t) => {
  const { enter } = await setUp(t);
  assert.equal((await enter("ADA@example.com")).id, "ada");
});

test("every failed sign-in is refused in the same words", async (t) => {
  const { enter, users } = await setUp(t);
  const failure = { status: 401, message: "The email or the password is wrong" };
  await assert.rejects(enter(EMAIL, "wrong words"), failure);
  await assert.rejects(enter("nobody@example.com"), failure);
  await users.change("default", "ada", (ada) => changedUser(ada, { active: false }, now()));
  await assert.rejects(enter(), failure);
});

test("after five failures the right password has to wait too", async (t) => {
  const { enter } = await setUp(t);
  for (let i = 0; i < 5; i++) await assert.rejects(enter(EMAIL, "wrong words"), { status: 401 });
  await assert.rejects(enter(), { status: 429, retryAfterSeconds: 60 });
});

test("of a burst of guesses five are checked", async (t) => {
  const { enter } = await setUp(t);
  const burst = await Promise.allSettled(Array.from({ length: 20 }, () => enter(EMAIL, "wrong!")));
  const statuses = burst.map((outcome) =>
    outcome.status === "rejected" ? (outcome.reason as { status: number }).status : 200,
  );
  assert.equal(statuses.filter((status) => status === 401).length, 5);
  assert.equal(statuses.filter((status) => status === 429).length, 15);
});

test("a changed password replaces the old one and ends tokens", async (t) => {
  const { enter, change, users } = await setUp(t);
  await change(PASSWORD, "another good password");
  await assert.rejects(enter(), { status: 401 });
  assert.equal((await enter(EMAIL, "another good password")).credential_version, 2);
  assert.equal(users.get("default", "ada")?.credential_version, 2);
});

test("a wrong current password is forbidden, and counted", async (t) => {
  const { enter, change } = await setUp(t);
  for (let i = 0; i < 5; i++) {
    await assert.rejects(change("wrong words", "another good password"), { status: 403 });
  }
  await assert.rejects(change(PASSWORD, "another good password"), { status: 429 });
  await assert.rejects(enter(), { status: 429 });
});

test("of two changes with one current password the second is refused", async (t) => {
  const { change, enter } = await setUp(t);
  const outcomes = await Promise.allSettled([
    change(PASSWORD, "the first new password"),
    change(PASSWORD, "the second new password"),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected"],
  );
  await enter(EMAIL, "the first new password");
});

test("the password of a deleted user cannot be changed", async (t) => {
  const { change, users } = await setUp(t);
  await users.remove("default", "ada");
  await assert.rejects(change(PASSWORD, "another good password"), { status: 404 });
});

test("the admin that the settings name is created once and never overwritten", async (t) => {
  const { services, users, enter } = await setUp(t);
  const needs = { ...services, now, ids: () => "root" };
  const root = { email: "root@example.com", password: PASSWORD };
  assert.equal(await ensureFirstAdmin(root, needs), true);
  assert.equal(users.findByEmail(root.email)?.role, "admin");
  assert.equal(users.findByEmail(root.email)?.organization_id, "default");
  assert.equal(await ensureFirstAdmin({ ...root, password: "something else" }, needs), false);
  assert.equal((await enter(root.email)).id, "root");
});

test("of two servers that create the first admin at once, one leaves it to the other", async (t) => {
  const { services, users } = await setUp(t);
  let id = 0;
  const needs = { ...services, now, ids: () => `root${id++}` };
  const root = { email: "root@example.com", password: PASSWORD };
  const created = await Promise.all([ensureFirstAdmin(root, needs), ensureFirstAdmin(root, needs)]);
  assert.deepEqual(created.sort(), [false, true]);
  assert.equal(users.findByEmail(root.email)?.role, "admin");
});

test("settings that cannot make an admin are refused by their names", async (t) => {
  const { services } = await setUp(t);
  const needs = { ...services, now, ids: () => "root" };
  await assert.rejects(ensureFirstAdmin({ email: "root", password: PASSWORD }, needs), {
    message: 'ADMIN_EMAIL: "root" is not understood, expected an email address',
  });
  await assert.rejects(ensureFirstAdmin({ email: EMAIL, password: "short" }, needs), {
    message: "ADMIN_PASSWORD: expected 10 to 256 characters",
  });
});
