import assert from "node:assert/strict";
import { test } from "node:test";
import { checkNewPassword, createPasswords, type StoredHash } from "../../src/auth/password.ts";
import { TooMany, Unauthenticated } from "../../src/core/errors.ts";

const now = () => 1_800_000_000_000;
const CHEAP = { now, cost: 16 };
const ADA = { email: "ada@example.com", address: "192.0.2.1" };

test("a hash matches its password and no other", async () => {
  const passwords = createPasswords(CHEAP);
  const hash = await passwords.hash("correct horse battery");
  assert.equal(await passwords.verify("correct horse battery", hash, ADA), true);
  assert.equal(await passwords.verify("correct horse batterz", hash, ADA), false);
  assert.equal(await passwords.verify("", hash, ADA), false);
});

test("equal passwords have different hashes", async () => {
  const passwords = createPasswords(CHEAP);
  assert.notEqual(await passwords.hash("the same words"), await passwords.hash("the same words"));
});

test("by default a hash uses N=2^15, r=8, p=3, and states them", async () => {
  const passwords = createPasswords({ now });
  const hash = await passwords.hash("correct horse battery");
  assert.match(hash, /^\$scrypt\$ln=15,r=8,p=3\$[\w-]{22}\$[\w-]{43}$/);
  assert.equal(await passwords.verify("correct horse battery", hash, ADA), true);
});

test("a hash with other parameters is verified by those", async () => {
  const hash = await createPasswords(CHEAP).hash("correct horse battery");
  assert.equal(
    await createPasswords({ now, cost: 32 }).verify("correct horse battery", hash, ADA),
    true,
  );
});

test("differently composed characters make the same password", async () => {
  const passwords = createPasswords(CHEAP);
  const hash = await passwords.hash("caf\u00e9 au lait");
  assert.equal(await passwords.verify("cafe\u0301 au lait", hash, ADA), true);
});

test("a password is not set by credentials that ended in line", async () => {
  const passwords = createPasswords(CHEAP);
  const client = { gone: new AbortController().signal, acceptance: () => () => false };
  const setter = { organization: "acme", address: "192.0.2.1", client };
  await assert.rejects(passwords.hash("correct horse battery", setter), Unauthenticated);
});

test("without a hash no password matches", async () => {
  assert.equal(await createPasswords(CHEAP).verify("anything at all", undefined, ADA), false);
});

test("an unknown user costs as much time as a known one", async () => {
  const computed: unknown[] = [];
  const derive = async (_: string, { key, ...settings }: StoredHash): Promise<Buffer> => {
    computed.push({ ...settings, salt: settings.salt.length, key: key.length });
    return Buffer.alloc(key.length);
  };
  const passwords = createPasswords({ ...CHEAP, derive });
  await passwords.verify("wrong words", undefined, ADA);
  await passwords.verify("wrong words", await createPasswords(CHEAP).hash("right words"), ADA);
  assert.equal(computed.length, 2);
  assert.deepEqual(computed[0], computed[1]);
});

test("a damaged hash is a defect, not a wrong password", async () => {
  await assert.rejects(
    createPasswords(CHEAP).verify("anything", "$scrypt$nonsense", ADA),
    /damaged/,
  );
});

test("fifty wait while one is hashed, and the next is refused with Retry-After", async () => {
  const passwords = createPasswords(CHEAP);
  const accepted = Array.from({ length: 51 }, () => passwords.hash("correct horse battery"));
  await assert.rejects(
    passwords.hash("correct horse battery"),
    (error) => error instanceof TooMany && error.retryAfterSeconds > 0,
  );
  assert.equal((await Promise.all(accepted)).length, 51);
  await passwords.hash("correct horse battery");
});

test("the line of one instance does not delay the line of another", async () => {
  const busy = createPasswords(CHEAP);
  const line = Array.from({ length: 51 }, () => busy.hash("correct horse battery"));
  await createPasswords(CHEAP).hash("correct horse battery");
  await Promise.all(line);
});

test("10 to 256 characters are accepted, counted in code points", () => {
  checkNewPassword("a".repeat(10), "password");
  checkNewPassword("\u{1F600}".repeat(256), "password");
  const refusal = { message: "password: expected 10 to 256 characters" };
  assert.throws(() => checkNewPassword("a".repeat(9), "password"), refusal);
  assert.throws(() => checkNewPassword("\u{1F600}".repeat(9), "password"), refusal);
  assert.throws(() => checkNewPassword("a".repeat(257), "password"), refusal);
});

test("passwords are hashed one at a time: a fast hash waits for a slow one before it", async () => {
  const [slow, quick] = await Promise.all(
    [2 ** 13, 2].map((cost) => createPasswords({ now, cost }).hash("correct horse")),
  );
  const passwords = createPasswords({ now, cost: 2 });
  const order: string[] = [];
  await Promise.all([
    passwords.verify("correct horse", slow, ADA).then(() => order.push("slow")),
    passwords.verify("correct horse", quick, ADA).then(() => order.push("quick")),
  ]);
  assert.deepEqual(order, ["slow", "quick"]);
});
