import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { OrganizationStore } from "../../src/organizations/store.ts";
import { draftUser } from "../../src/users/draft.ts";
import type { UserStore } from "../../src/users/store.ts";

/** The stores of a deployment that was just created. */
export interface Tenancy {
  readonly organizations: OrganizationStore;
  readonly users: UserStore;
}

const AT = "2026-11-20T12:00:00.000Z";

/** The parts of a new organization: its draft and its first admin. */
export function founding(
  name: string,
  slug?: string,
  email = `admin@${name.toLowerCase()}.example`,
) {
  const admin = draftUser({ email, role: "admin" }, "hash", `${name}-admin`, Date.parse(AT));
  return [{ name, slug, created_at: AT }, admin] as const;
}

/** The tests that every engine's organization store passes. */
export function organizationStoreSuite(open: (t: TestContext) => Promise<Tenancy>): void {
  test("the default organization is there from the start", async (t) => {
    const { organizations } = await open(t);
    const found = await organizations.get("default");
    assert.deepEqual([found?.id, found?.slug], ["default", "default"]);
    assert.deepEqual(await organizations.list(), [found]);
  });

  test("an organization comes with its first admin", async (t) => {
    const { organizations, users } = await open(t);
    const acme = await organizations.create(...founding("Acme", "the-acme"));
    assert.deepEqual(acme, {
      id: "the-acme",
      name: "Acme",
      slug: "the-acme",
      created_at: AT,
      updated_at: AT,
    });
    assert.deepEqual(await organizations.get("the-acme"), acme);
    assert.equal((await organizations.list()).length, 2);
    assert.equal(await organizations.count(), 2);
    const admin = await users.findByEmail("admin@acme.example");
    assert.equal(admin?.organization_id, "the-acme");
    assert.deepEqual(await users.list("the-acme"), [admin]);
    assert.deepEqual(await users.list("default"), []);
  });

  test("a slug is unique, and the default one is taken from the start", async (t) => {
    const { organizations, users } = await open(t);
    await organizations.create(...founding("Acme", "acme"));
    await assert.rejects(organizations.create(...founding("Other", "acme")), { status: 409 });
    await assert.rejects(organizations.create(...founding("Other", "default")), { status: 409 });
    assert.equal(await users.findByEmail("admin@other.example"), undefined);
  });

  test("a missing slug is made from the name, with a number if needed", async (t) => {
    const { organizations } = await open(t);
    const ids = await Promise.all(
      ["a@x.org", "b@x.org", "c@x.org"].map(async (email) => {
        return (await organizations.create(...founding("Acme", undefined, email))).id;
      }),
    );
    assert.deepEqual(ids, ["acme", "acme-2", "acme-3"]);
  });

  test("an admin's email that is taken in any organization prevents the creation", async (t) => {
    const { organizations } = await open(t);
    await organizations.create(...founding("Acme", "acme", "ada@example.com"));
    const second = organizations.create(...founding("Globex", "globex", "ADA@example.com"));
    await assert.rejects(second, { status: 409 });
    assert.equal(await organizations.get("globex"), undefined);
  });

  test("of an organization and a user with one email, created concurrently, one succeeds", async (t) => {
    const { organizations, users } = await open(t);
    const [, draft] = founding("Acme", "acme", "ada@example.com");
    const outcomes = await Promise.allSettled([
      organizations.create(...founding("Acme", "acme", "ada@example.com")),
      users.create("default", { ...draft, id: "other", organization_id: "default" }),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
  });

  test("an organization can be renamed; its id and slug stay", async (t) => {
    const { organizations } = await open(t);
    const acme = await organizations.create(...founding("Acme"));
    const later = "2026-11-21T12:00:00.000Z";
    const renamed = { ...acme, name: "Globex", updated_at: later };
    assert.deepEqual(await organizations.rename("acme", "Globex", later), renamed);
    assert.deepEqual(await organizations.get("acme"), renamed);
  });

  test("an unknown id finds no organization", async (t) => {
    const { organizations } = await open(t);
    for (const id of ["__proto__", "..", "acme", ""]) {
      assert.equal(await organizations.get(id), undefined);
      assert.equal(await organizations.rename(id, "x", AT), undefined);
    }
  });
}
