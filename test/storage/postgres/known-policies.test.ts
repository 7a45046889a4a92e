/** Which active policies a server keeps, and how it reads the others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Policy } from "../../../src/policies/schema.ts";
import { KnownPolicies } from "../../../src/storage/postgres/known-policies.ts";

const MIB = 1 << 20;
const START = "2026-11-20T20:30:00.000Z";

function headOf(organization: string) {
  return { organization, version: "v1", activated_at: START, by_publish: true };
}

/** Policies of some length, whose reads end when `end` is called. */
function policiesOf(length: number) {
  const waiting: (() => void)[] = [];
  const read = async (organization: string): Promise<Policy> => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    const named = { organization_id: organization, name: "p", version: "v1", active: true };
    return { ...named, updated_by: "", updated_at: START, yaml: "#".repeat(length) };
  };
  const end = (): void => waiting.splice(0).forEach((resolve) => resolve());
  return { waiting, end, reader: { bytes: () => Promise.resolve(length), read } };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 200; i++) await setImmediate();
}

test("large policies are kept up to some MiB together, beside small ones", async () => {
  const known = new KnownPolicies();
  const load = async (organization: string, length: number): Promise<void> => {
    const { reader, end, waiting } = policiesOf(length);
    const loaded = known.load(headOf(organization), reader);
    while (waiting.length === 0) await setImmediate();
    end();
    await loaded;
  };
  await load("small", 100);
  for (let n = 0; n < 40; n++) await load(`large${n}`, MIB);
  const kept = Array.from({ length: 40 }, (_, n) => n).filter((n) =>
    known.get(headOf(`large${n}`)),
  );
  assert.equal(kept.length, 24);
  assert.equal(kept[0], 16);
  assert.ok(known.get(headOf("small")));
});

test("large policies are read two at a time, each once for all who wait for it", async () => {
  const known = new KnownPolicies();
  const large = policiesOf(MIB);
  const loads = Array.from({ length: 12 }, (_, n) =>
    known.load(headOf(`large${n % 6}`), large.reader),
  );
  await turns();
  assert.equal(large.waiting.length, 2);
  const small = policiesOf(100);
  const quick = known.load(headOf("small"), small.reader);
  await turns();
  assert.equal(small.waiting.length, 1);
  small.end();
  assert.ok(await quick);
  let reads = 0;
  const isDone = Promise.all(loads).then(() => true);
  while (!(await Promise.race([isDone, setImmediate(false)]))) {
    assert.ok(large.waiting.length <= 2);
    reads += large.waiting.length;
    large.end();
  }
  assert.equal(reads, 6);
  const [first, , , , , , again] = await Promise.all(loads);
  assert.equal(first, again);
});

test("a version is read anew when another publish has its name, as after a fail-over that lost one", async () => {
  const known = new KnownPolicies();
  const { reader, end } = policiesOf(100);
  const loaded = known.load(headOf("acme"), reader);
  await turns();
  end();
  const policy = await loaded;
  assert.ok(policy);
  assert.equal(known.get(headOf("acme")), policy);
  assert.equal(known.get({ ...headOf("acme"), activated_at: null }), policy); // stored by an earlier version
  // An activation in the millisecond of the publish is not in the cached policy.
  assert.equal(known.get({ ...headOf("acme"), by_publish: false }), undefined);
  const later = "2026-11-20T20:30:00.001Z";
  assert.equal(known.get({ ...headOf("acme"), activated_at: later }), undefined);
});
