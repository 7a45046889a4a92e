import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test, type TestContext } from "node:test";
import { draftPolicy, type PolicyDraft } from "../../src/policies/draft.ts";
import type { Policy } from "../../src/policies/schema.ts";
import type { PolicyStore } from "../../src/policies/store.ts";

const START = Date.parse("2026-11-20T20:30:00.000Z");
const LATER = "2026-11-21T00:00:00.000Z";

/** A draft of a version, `second` seconds after the start; without a name it gets a generated one. */
export function draftOf(version: string | undefined, yaml = "a: 1", second = 0): PolicyDraft {
  return draftPolicy({ yaml, version }, START + second * 1_000, undefined);
}

/** All versions of an organization with their texts, newest first. */
export async function listOf(
  policies: PolicyStore,
  organization: string,
): Promise<readonly Policy[]> {
  const versions = await policies.versions(organization);
  const read = versions.map(async ({ policy }) => {
    const whole = await policies.get(organization, policy.version);
    assert.ok(whole);
    return { ...policy, yaml: whole.yaml };
  });
  return Promise.all(read);
}

function names(policies: readonly Policy[]): readonly string[] {
  return policies.map(({ version }) => version);
}

/**
 * The tests that every engine's policy store passes; `open` returns an empty one that knows `acme`
 * and `globex`.
 */
export function policyStoreSuite(open: (t: TestContext) => Promise<PolicyStore>): void {
  test("without policies nothing is active", async (t) => {
    const policies = await open(t);
    assert.equal(await policies.active("acme"), undefined);
    assert.equal(await policies.activeVersion("acme"), "");
    assert.equal(await policies.get("acme", "v1"), undefined);
    assert.equal(await policies.activate("acme", "v1", LATER, "ada"), undefined);
    assert.deepEqual(await listOf(policies, "acme"), []);
    assert.deepEqual(await policies.versions("acme"), []);
  });

  test("the texts of versions come in the order of the question", async (t) => {
    const policies = await open(t);
    for (const n of [1, 2, 3]) await policies.publish("acme", draftOf(`v${n}`, `a: ${n}`, n));
    await policies.publish("globex", draftOf("v1", "b: 1"));
    const [third, second, first] = await policies.versions("acme");
    assert.ok(first && second && third);
    assert.deepEqual(await policies.texts("acme", [first, third]), ["a: 1", "a: 3"]);
    assert.deepEqual(await policies.texts("globex", [first, second]), ["b: 1", ""]);
    assert.deepEqual(await policies.texts("acme", []), []);
  });

  test("a published version is complete and active", async (t) => {
    const policies = await open(t);
    const yaml = "# é 🚂\r\na: 1\n\n";
    const body = { yaml, version: "v1", description: "First", name: "n", updated_by: "ada" };
    const published = await policies.publish("acme", draftPolicy(body, START, undefined));
    assert.deepEqual(published, {
      organization_id: "acme",
      name: "n",
      version: "v1",
      description: "First",
      yaml,
      active: true,
      updated_by: "ada",
      updated_at: "2026-11-20T20:30:00.000Z",
    });
    assert.deepEqual(await policies.active("acme"), published);
    assert.deepEqual(await policies.get("acme", "v1"), published);
    assert.equal(await policies.activeVersion("acme"), "v1");
  });

  test("publishing makes the version before it inactive", async (t) => {
    const policies = await open(t);
    const first = await policies.publish("acme", draftOf("v1", "a: 1"));
    const second = await policies.publish("acme", draftOf("v2", "a: 2", 1));
    assert.deepEqual(await listOf(policies, "acme"), [second, { ...first, active: false }]);
    assert.deepEqual(await policies.get("acme", "v1"), { ...first, active: false });
    assert.equal(first.active, true, "what was answered stays as it was");
  });

  test("an existing version is refused, and nothing changes", async (t) => {
    const policies = await open(t);
    await policies.publish("acme", draftOf("v1", "a: 1"));
    const before = await policies.publish("acme", draftOf("v2", "a: 2"));
    await assert.rejects(policies.publish("acme", draftOf("v1", "a: 3")), {
      status: 409,
      message: 'Policy version "v1" already exists',
    });
    assert.equal((await policies.get("acme", "v1"))?.yaml, "a: 1");
    assert.deepEqual(await policies.active("acme"), before);
  });

  test("a draft that is meant to replace another version is refused, and nothing changes", async (t) => {
    const policies = await open(t);
    const onto = (base: string, version: string) =>
      policies.publish("acme", { ...draftOf(version), base });
    await assert.rejects(onto("v0", "v1"), {
      status: 409,
      message: 'base_version: no version is active, expected "v0"',
    });
    await onto("", "v1");
    await assert.rejects(onto("", "v2"), {
      status: 409,
      message: 'base_version: the active version is "v1", expected none',
    });
    await onto("v1", "v2");
    const before = await policies.active("acme");
    await assert.rejects(onto("v1", "v3"), {
      status: 409,
      message: 'base_version: the active version is "v2", expected "v1"',
    });
    assert.deepEqual(await policies.active("acme"), before);
    assert.deepEqual(names(await listOf(policies, "acme")).toSorted(), ["v1", "v2"]);
    await policies.activate("acme", "v1", LATER, "ada");
    await onto("v1", "v3");
  });

  test("of many concurrent publishes over one version, one succeeds", async (t) => {
    const policies = await open(t);
    await policies.publish("acme", draftOf("v0"));
    const publishes = Array.from({ length: 20 }, (_, i) =>
      policies.publish("acme", { ...draftOf(`v${i + 1}`), base: "v0" }),
    );
    const results = await Promise.allSettled(publishes);
    const stored = results.filter((result) => result.status === "fulfilled");
    assert.equal(stored.length, 1);
    assert.deepEqual(await policies.active("acme"), stored[0]?.value);
    assert.equal((await listOf(policies, "acme")).length, 2);
  });

  test("of many concurrent publishes of one version, one succeeds", async (t) => {
    const policies = await open(t);
    const publishes = Array.from({ length: 20 }, (_, i) =>
      policies.publish("acme", draftOf("v1", `a: ${i}`)),
    );
    const results = await Promise.allSettled(publishes);
    const stored = results.filter((result) => result.status === "fulfilled");
    assert.equal(stored.length, 1);
    assert.deepEqual(await listOf(policies, "acme"), [stored[0]?.value]);
  });

  test("concurrent publishes without a name get distinct names, and one of them is active", async (t) => {
    const policies = await open(t);
    const publishes = Array.from({ length: 20 }, (_, i) =>
      policies.publish("acme", draftOf(undefined, `a: ${i}`)),
    );
    const published = await Promise.all(publishes);
    const list = await listOf(policies, "acme");
    assert.equal(new Set(names(published)).size, 20);
    assert.deepEqual([...names(list)].sort(), [...names(published)].sort());
    assert.equal(list.filter(({ active }) => active).length, 1);
    assert.deepEqual(names(published).slice(0, 3), [
      "20261120T203000Z",
      "20261120T203000Z-2",
      "20261120T203000Z-3",
    ]);
  });

  test("the list is newest first by time, then by order of publishing", async (t) => {
    const policies = await open(t);
    await policies.publish("acme", draftOf("late", "a: 1", 60));
    await policies.publish("acme", draftOf("early", "a: 1", 0));
    await policies.publish("acme", draftOf("early, but after", "a: 1", 0));
    assert.deepEqual(names(await listOf(policies, "acme")), ["late", "early, but after", "early"]);
    assert.equal(await policies.activeVersion("acme"), "early, but after");
    const versions = await policies.versions("acme");
    assert.deepEqual(
      versions.map(({ policy }) => policy.version),
      ["late", "early, but after", "early"],
    );
  });

  test("versions have everything but the text, and its identity", async (t) => {
    const policies = await open(t);
    const { yaml, ...policy } = await policies.publish("acme", draftOf("v1", "a: é"));
    const sha256 = createHash("sha256").update(yaml).digest("hex");
    assert.deepEqual(await policies.versions("acme"), [{ policy, sha256, bytes: 5 }]);
  });

  test("an earlier version can be activated again, and records when and by whom", async (t) => {
    const policies = await open(t);
    const first = await policies.publish("acme", draftOf("v1", "a: 1"));
    await policies.publish("acme", draftOf("v2", "a: 2", 1));
    const activated = await policies.activate("acme", "v1", LATER, "ada");
    assert.deepEqual(activated, { ...first, activated_at: LATER, activated_by: "ada" });
    assert.deepEqual(await policies.active("acme"), activated);
    assert.equal((await policies.get("acme", "v2"))?.active, false);
    assert.deepEqual(names(await listOf(policies, "acme")), ["v2", "v1"]);
  });

  test("a version keeps the time of its activation when another one becomes active", async (t) => {
    const policies = await open(t);
    for (const version of ["v1", "v2"]) await policies.publish("acme", draftOf(version));
    await policies.activate("acme", "v1", LATER, "ada");
    await policies.publish("acme", draftOf("v3"));
    const [, , first] = await listOf(policies, "acme");
    assert.deepEqual([first?.version, first?.active], ["v1", false]);
    assert.deepEqual([first?.activated_at, first?.activated_by], [LATER, "ada"]);
    assert.deepEqual(await policies.get("acme", "v1"), first);
  });

  test("a version that is not activated is stored, and the active one stays", async (t) => {
    const policies = await open(t);
    const first = await policies.publish("acme", draftOf("v1", "a: 1"));
    await policies.publish("acme", draftOf("v2", "a: 2"));
    const active = await policies.activate("acme", "v1", LATER, "ada");
    const stored = await policies.publish("acme", { ...draftOf("v3", "a: 3"), activates: false });
    assert.deepEqual([stored.version, stored.active, stored.yaml], ["v3", false, "a: 3"]);
    assert.deepEqual(await policies.active("acme"), active);
    assert.deepEqual(await policies.get("acme", "v3"), stored);
    const versions = await policies.versions("acme");
    assert.deepEqual(
      versions.map(({ policy }) => [policy.version, policy.active, policy.activated_at]),
      [
        ["v3", false, undefined],
        ["v2", false, undefined],
        ["v1", true, LATER],
      ],
    );
    await policies.activate("acme", "v3", LATER, "ada");
    assert.equal(await policies.activeVersion("acme"), "v3");
    assert.deepEqual(
      { ...(await policies.get("acme", "v1")) },
      { ...first, active: false, activated_at: LATER, activated_by: "ada" },
    );
  });

  test("after a first version that is not activated, no version is active", async (t) => {
    const policies = await open(t);
    const draft = { ...draftOf("v1"), activates: false };
    const stored = await policies.publish("acme", { ...draft, base: "" });
    assert.equal(await policies.active("acme"), undefined);
    assert.equal(await policies.activeVersion("acme"), "");
    assert.deepEqual(await listOf(policies, "acme"), [stored]);
    await assert.rejects(policies.publish("acme", draft), { status: 409 });
    await assert.rejects(
      policies.publish("acme", { ...draftOf("v2"), activates: false, base: "v1" }),
      {
        status: 409,
        message: 'base_version: no version is active, expected "v1"',
      },
    );
    assert.equal((await policies.publish("acme", draftOf("v2"))).active, true);
  });

  test("making the active version active again changes nothing", async (t) => {
    const policies = await open(t);
    await policies.publish("acme", draftOf("v1"));
    const before = await policies.active("acme");
    assert.deepEqual(await policies.activate("acme", "v1", LATER, "ada"), before);
    assert.deepEqual(await policies.active("acme"), before);
  });

  test("each activation reports the version that it replaced, even if several are concurrent", async (t) => {
    const policies = await open(t);
    await policies.publish("acme", draftOf("v1"));
    await policies.publish("acme", draftOf("v2"));
    const replaced: string[] = [];
    const seen = (active: string): void => void replaced.push(active);
    const versions = ["v1", "v2", "v2", "v1"];
    await Promise.all(versions.map((one) => policies.activate("acme", one, LATER, "ada", seen)));
    assert.deepEqual(replaced, ["v2", "v1", "v2", "v2"]);
  });

  test("an unknown version cannot be made active", async (t) => {
    const policies = await open(t);
    await policies.publish("acme", draftOf("v1"));
    assert.equal(await policies.activate("acme", "v2", LATER, "ada"), undefined);
    assert.equal(await policies.activeVersion("acme"), "v1");
  });

  test("name and time of activation identify the active version", async (t) => {
    const policies = await open(t);
    const active = async () => {
      const policy = await policies.active("acme");
      return [policy?.version, policy?.activated_at];
    };
    await policies.publish("acme", draftOf("v1"));
    assert.deepEqual(await active(), ["v1", undefined]);
    await policies.publish("globex", draftOf("v2"));
    assert.deepEqual(await active(), ["v1", undefined]);
    await policies.publish("acme", draftOf("v2", "a: 1", 1));
    assert.deepEqual(await active(), ["v2", undefined]);
    await policies.activate("acme", "v1", LATER, "ada");
    assert.deepEqual(await active(), ["v1", LATER]);
  });

  test("exactly one version is active at every moment during many changes", async (t) => {
    const policies = await open(t);
    await policies.publish("acme", draftOf("v0"));
    const changes = Array.from({ length: 12 }, async (_, i) => {
      await policies.publish("acme", draftOf(`v${i + 1}`, `a: ${i}`, i));
      await policies.activate("acme", `v${i}`, LATER, "ada");
    });
    const looking = (async () => {
      for (let i = 0; i < 30; i++) {
        const versions = await policies.versions("acme");
        assert.equal(versions.filter(({ policy }) => policy.active).length, 1);
        await new Promise(setImmediate);
      }
    })();
    await Promise.all([...changes, looking]);
    const list = await listOf(policies, "acme");
    assert.equal(list.length, 13);
    const active = list.filter((policy) => policy.active);
    assert.deepEqual(names(active), [await policies.activeVersion("acme")]);
  });

  test("each organization has its own versions", async (t) => {
    const policies = await open(t);
    await policies.publish("acme", draftOf("v1", "a: acme"));
    assert.equal(await policies.get("globex", "v1"), undefined);
    assert.equal(await policies.activate("globex", "v1", LATER, "ada"), undefined);
    await policies.publish("globex", draftOf("v1", "a: globex"));
    assert.equal((await policies.get("acme", "v1"))?.yaml, "a: acme");
    assert.equal((await policies.get("globex", "v1"))?.organization_id, "globex");
  });

  test("names of any length and with any characters make distinct versions", async (t) => {
    const policies = await open(t);
    const odd = [
      "a/b",
      "../../x",
      "A",
      "a",
      "🚂".repeat(128),
      "x".repeat(128),
      "__proto__",
      "\u00e9",
      "e\u0301",
    ];
    for (const [i, version] of odd.entries()) {
      await policies.publish("acme", draftOf(version, `a: ${i}`));
    }
    for (const [i, version] of odd.entries()) {
      assert.equal((await policies.get("acme", version))?.yaml, `a: ${i}`, version);
    }
  });
}
