import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { draftUser } from "../../src/users/draft.ts";
import type { Role } from "../../src/core/roles.ts";
import type { StoredUser } from "../../src/users/schema.ts";
import type { UserStore } from "../../src/users/store.ts";

/** Makes a user; the email is made from the id. */
export function person(organization: string, id: string, role: Role = "viewer"): StoredUser {
  const draft = draftUser({ email: `${id}@example.com`, role }, "hash", id, 0);
  return { ...draft, organization_id: organization };
}

/** The tests that every engine's user store passes; `open` returns an empty one that knows `acme` and `globex`. */
export function userStoreSuite(open: (t: TestContext) => Promise<UserStore>): void {
  const ada = person("acme", "ada", "admin");
  const bob = person("acme", "bob");

  test("a created user is found by id and by email, and listed", async (t) => {
    const users = await open(t);
    await users.create("acme", ada);
    await users.create("acme", bob);
    assert.deepEqual(await users.get("acme", "ada"), ada);
    assert.deepEqual(await users.findById("ada"), ada);
    assert.deepEqual(await users.findByEmail("ADA@example.com"), ada);
    assert.deepEqual(await users.list("acme"), [ada, bob]);
  });

  test("the users of an organization are counted, and its active admins found", async (t) => {
    const users = await open(t);
    const former = { ...person("acme", "former", "admin"), active: false };
    for (const one of [ada, bob, former]) await users.create("acme", one);
    await users.create("globex", person("globex", "eve", "admin"));
    assert.equal(await users.count("acme"), 3);
    assert.equal(await users.count("umbrella"), 0);
    assert.deepEqual(await users.activeAdmins("acme"), [ada]);
  });

  test("a user of another organization does not exist", async (t) => {
    const users = await open(t);
    await users.create("acme", ada);
    await users.create("globex", person("globex", "eve", "admin"));
    assert.equal(await users.get("globex", "ada"), undefined);
    assert.deepEqual(
      (await users.list("globex")).map(({ id }) => id),
      ["eve"],
    );
    assert.equal(
      await users.change("globex", "ada", (user) => ({ ...user, name: "!" })),
      undefined,
    );
    assert.equal(await users.remove("globex", "ada"), false);
    assert.deepEqual(await users.get("acme", "ada"), ada);
  });

  test("prototype names are not found as ids", async (t) => {
    const users = await open(t);
    for (const id of ["__proto__", "constructor", "hasOwnProperty"]) {
      assert.equal(await users.get("acme", id), undefined);
      assert.equal(await users.findById(id), undefined);
      assert.equal(await users.findByEmail(id), undefined);
      assert.equal(await users.remove("acme", id), false);
    }
  });

  test("an email is unique over all organizations and letter cases", async (t) => {
    const users = await open(t);
    await users.create("acme", ada);
    const twin = { ...person("globex", "twin"), email: "Ada@Example.com" };
    await assert.rejects(users.create("globex", twin), { status: 409 });
    assert.deepEqual(await users.list("globex"), []);
  });

  test("of two users with one email, created concurrently, one succeeds", async (t) => {
    const users = await open(t);
    const twins = ["acme", "globex"].map((organization) =>
      users.create(organization, { ...person(organization, organization), email: "a@b.c" }),
    );
    const outcomes = (await Promise.allSettled(twins)).map(({ status }) => status);
    assert.deepEqual(outcomes.sort(), ["fulfilled", "rejected"]);
  });

  test("a deleted user is not found, and the email is free again", async (t) => {
    const users = await open(t);
    await users.create("acme", bob);
    assert.equal(await users.remove("acme", "bob"), true);
    assert.equal(await users.remove("acme", "bob"), false);
    assert.equal(await users.findById("bob"), undefined);
    assert.equal(await users.findByEmail(bob.email), undefined);
    await users.create("globex", { ...person("globex", "bob-2"), email: bob.email });
  });

  test("a deletion is told which user it removes", async (t) => {
    const users = await open(t);
    await users.create("acme", bob);
    const seen: StoredUser[] = [];
    await Promise.all([
      users.change("acme", "bob", (user) => ({ ...user, name: "Robert" })),
      users.remove("acme", "bob", (before) => void seen.push(before)),
      users.remove("acme", "bob", (before) => void seen.push(before)),
    ]);
    assert.deepEqual(seen, [{ ...bob, name: "Robert" }]);
  });

  test("a change is answered and stored, and found by every look-up", async (t) => {
    const users = await open(t);
    await users.create("acme", bob);
    const renamed = await users.change("acme", "bob", (user) => ({ ...user, name: "Robert" }));
    assert.equal(renamed?.name, "Robert");
    assert.deepEqual(await users.get("acme", "bob"), renamed);
    assert.deepEqual(await users.findByEmail(bob.email), renamed);
    assert.deepEqual(await users.list("acme"), [renamed]);
  });

  test("a change that is refused changes nothing", async (t) => {
    const users = await open(t);
    await users.create("acme", bob);
    const refuse = (): never => {
      throw new Error("no");
    };
    await assert.rejects(users.change("acme", "bob", refuse), /no/);
    assert.deepEqual(await users.get("acme", "bob"), bob);
  });

  test("concurrent changes of one user all take effect", async (t) => {
    const users = await open(t);
    await users.create("acme", bob);
    const raise = (user: StoredUser) => ({
      ...user,
      credential_version: user.credential_version + 1,
    });
    await Promise.all(Array.from({ length: 10 }, () => users.change("acme", "bob", raise)));
    assert.equal((await users.get("acme", "bob"))?.credential_version, 11);
  });

  test("of the two last admins, only one can be removed concurrently", async (t) => {
    const users = await open(t);
    await users.create("acme", ada);
    await users.create("acme", person("acme", "eve", "admin"));
    const outcomes = await Promise.allSettled([
      users.remove("acme", "ada"),
      users.change("acme", "eve", (user) => ({ ...user, active: false })),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
    assert.equal((await users.get("acme", "eve"))?.active, true);
  });

  test("another organization's admins do not count", async (t) => {
    const users = await open(t);
    await users.create("acme", ada);
    await users.create("globex", person("globex", "eve", "admin"));
    await assert.rejects(users.remove("acme", "ada"), { status: 409 });
  });
}
