import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import { createPasswords, type Passwords } from "../../src/auth/password.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

// Attacks on sign-in, with hashes that end one by one when the test says so.

const LOGIN = "/api/v1/auth/login";

async function setUp(t: TestContext) {
  let isHeld = false;
  const held: { readonly password: string; readonly release: () => void }[] = [];
  const asked = new Set<string>();
  const dropped = new Set<string>();
  const quick = createPasswords({
    now: () => 0,
    async derive(password, { salt, key }) {
      const derived = Buffer.alloc(key.length, password + salt.toString("hex"));
      if (isHeld) await new Promise<void>((release) => held.push({ password, release }));
      return derived;
    },
  });
  const passwords: Passwords = {
    hash: (...given) => (asked.add(given[0]), quick.hash(...given)),
    verify(...given) {
      asked.add(given[0]);
      const isRight = quick.verify(...given);
      isRight.catch(() => dropped.add(given[0]));
      return isRight;
    },
  };
  const release = (): void => {
    isHeld = false;
    for (const { release } of held.splice(0)) release();
  };
  t.after(release); // before the server closes, which waits for them
  const settings = { ...ADMIN_SETTINGS, requireAuth: true, trustProxy: 1 };
  const app = await start(t, settings, passwords);
  const from = (address: string) => ({ "x-forwarded-for": address });
  return {
    app,
    from,
    signIn: (email: string, password: string, address: string) =>
      app.post(LOGIN, { email, password }, from(address)),
    /** From now on a hash ends only when the test says so. */
    hold(): void {
      asked.clear();
      isHeld = true;
    },
    /** Resolves when a password is being hashed, or waits for it. */
    async reached(password: string): Promise<void> {
      while (!asked.has(password)) await setImmediate();
    },
    /** Resolves when each request waits for its hash, or was refused before. */
    async allReached(
      requests: readonly { readonly password: string; readonly answer: Promise<unknown> }[],
    ): Promise<void> {
      const answered = new Set<string>();
      for (const { password, answer } of requests) {
        void answer.finally(() => answered.add(password));
      }
      const isThere = (password: string) => asked.has(password) || answered.has(password);
      while (!requests.every(({ password }) => isThere(password))) await setImmediate();
    },
    /** Resolves when a password was dropped from the line. */
    async dropped(password: string): Promise<void> {
      while (!dropped.has(password)) await setImmediate();
    },
    /** Ends hashes until one of this password has ended, and returns their number. */
    async hashesUntil(password: string): Promise<number> {
      for (let count = 1; count < 100; count++) {
        while (held.length === 0) await setImmediate();
        const hash = held.shift();
        hash?.release();
        if (hash?.password === password) return count;
      }
      return Infinity;
    },
    /** Ends all waiting hashes. */
    release,
  };
}

for (const { networks, rounds } of [
  { networks: 14, rounds: 5 },
  { networks: 200, rounds: 1 },
]) {
  test(`during guesses from ${networks} networks, even at the own email, a user can sign in`, async (t) => {
    const { signIn, hold, reached, allReached, hashesUntil, release } = await setUp(t);
    const guess = (words: string, round = 0) =>
      Array.from({ length: networks }, (_, i) => {
        const email = (i + round) % 2 === 0 ? ADMIN.email : `user${i}@example.com`;
        const password = `${words} ${i} of round ${round}`;
        return { password, answer: signIn(email, password, `198.51.${i % 100}.${i}`) };
      });
    // Each has failed, or was refused.
    await Promise.all(guess("the first guess").map(({ answer }) => answer));
    hold();
    const guesses = Array.from({ length: rounds }, (_, round) => guess("a guess", round)).flat();
    await allReached(guesses);
    const right = signIn(ADMIN.email, ADMIN.password, "203.0.113.7");
    const more = guess("a last guess");
    await reached(ADMIN.password);
    assert.ok((await hashesUntil(ADMIN.password)) <= 3);
    assert.equal((await right).status, 200);
    release();
    const answers = await Promise.all([...guesses, ...more].map(({ answer }) => answer));
    const statuses = new Set(answers.map(({ status }) => status));
    statuses.delete(503); // on a loaded machine some wait too long for a connection to PostgreSQL
    assert.deepEqual([...statuses].sort(), [401, 429]);
  });
}

test("while every guess comes from a new network, users with the right password can sign in", async (t) => {
  const { app, signIn, hold, reached, allReached, hashesUntil, release } = await setUp(t);
  const here = "203.0.113.7";
  for (let i = 0; i < 5; i++) await signIn(ADMIN.email, ADMIN.password, here);
  const admin = await app.asUser(ADMIN);
  await signIn(ADMIN.email, "a first guess", "198.50.0.1");
  hold();
  const guess = (network: number) =>
    Array.from({ length: 60 }, (_, i) => {
      const email = i % 3 === 0 ? ADMIN.email : `user${i}@example.com`;
      const password = `the guess ${i} from ${network}`;
      return { password, answer: signIn(email, password, `${network}.${i}.0.1`) };
    });
  const guesses = guess(198);
  await allReached(guesses);

  const fromHere = signIn(ADMIN.email, ADMIN.password, here);
  await reached(ADMIN.password);
  const laterGuesses = guess(199);
  await allReached(laterGuesses);
  assert.ok((await hashesUntil(ADMIN.password)) <= 4);
  assert.equal((await fromHere).status, 200);

  const change = { current: ADMIN.password, password: "another password of mine" };
  hold();
  const changed = app.put("/api/v1/auth/password", change, admin);
  await reached(ADMIN.password);
  assert.ok((await hashesUntil(ADMIN.password)) <= 4);
  await reached(change.password);
  assert.ok((await hashesUntil(change.password)) <= 4);
  assert.equal((await changed).status, 200);

  hold();
  const fromElsewhere = signIn(ADMIN.email, change.password, "192.0.2.1");
  await reached(change.password);
  assert.ok((await hashesUntil(change.password)) <= 4);
  assert.equal((await fromElsewhere).status, 200);
  release();
  await Promise.all([...guesses, ...laterGuesses].map(({ answer }) => answer));
});

test("a sign-in whose client has disconnected is not checked", async (t) => {
  const { app, hold, reached, dropped, signIn, release } = await setUp(t);
  hold();
  const first = signIn("one@example.com", "the first one", "198.51.100.1");
  await reached("the first one");
  const client = new AbortController();
  const left = fetch(app.url + LOGIN, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": "198.51.100.2" },
    body: JSON.stringify({ email: "two@example.com", password: "the one that left" }),
    signal: client.signal,
  });
  await reached("the one that left");
  client.abort();
  await assert.rejects(left, { name: "AbortError" });
  await dropped("the one that left");
  release();
  assert.equal((await first).status, 401);
});

test("setting passwords over and over does not prevent sign-ins", async (t) => {
  const { app, signIn, hold, reached, hashesUntil, release } = await setUp(t);
  const admin = await app.asUser(ADMIN);
  hold();
  const user = { email: "new@example.com", password: "another new user" };
  const created = Array.from({ length: 60 }, () => app.post("/api/v1/users", user, admin));
  const refused = created.map(async (one) => assert.equal((await one).status, 429));
  await Promise.any(refused); // so the line of those who wait is full
  const right = signIn(ADMIN.email, ADMIN.password, "203.0.113.7");
  await reached(ADMIN.password);
  assert.ok((await hashesUntil(ADMIN.password)) <= 3);
  assert.equal((await right).status, 200);
  release();
  const statuses = (await Promise.all(created)).map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)].sort(), [201, 409, 429]);
});

test("one organization that sets passwords over and over does not prevent others from setting theirs", async (t) => {
  const { app, hold, reached, hashesUntil, release } = await setUp(t);
  const admin = await app.asUser(ADMIN);
  const { admin: other } = await app.createOrganization("Other", admin);
  hold();
  const body = (email: string, password: string) => ({ email, password });
  const flood = Array.from({ length: 60 }, (_, i) =>
    app.post("/api/v1/users", body("new@example.com", "a flood of users"), {
      ...admin,
      "x-forwarded-for": `198.51.${i}.1`,
    }),
  );
  await reached("a flood of users");
  const theirs = app.post("/api/v1/users", body("one@example.com", "one of the others"), {
    ...other,
    "x-forwarded-for": "203.0.113.7",
  });
  await reached("one of the others");
  assert.ok((await hashesUntil("one of the others")) <= 3);
  assert.equal((await theirs).status, 201);
  release();
  await Promise.all(flood);
});
