import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiKey } from "../../src/auth/api-key.ts";
import type { Awaitable, Caller } from "../../src/core/caller.ts";
import { createCallerResolver, type Account, type Demand } from "../../src/auth/caller.ts";
import { signToken, tokenId, type Claims } from "../../src/auth/jwt.ts";
import { Forbidden, Unauthenticated } from "../../src/core/errors.ts";
import type { RolesMode } from "../../src/core/roles.ts";

const SECRET = "a secret of more than thirty-two bytes";
const NOW = 1_800_000_000_000;
const ada: Account = {
  id: "ada",
  email: "ada@example.com",
  role: "admin",
  active: true,
  organization_id: "acme",
  credential_version: 2,
};
const accounts: readonly Account[] = [
  ada,
  { ...ada, id: "idle", active: false },
  { ...ada, id: "guest", organization_id: "default" },
  { ...ada, id: "vera", role: "viewer" },
  { ...ada, id: "otto", role: "operator" },
  { ...ada, id: "odd", role: "owner" },
];
const runtimeKey = createApiKey();
const revokedKey = createApiKey();
const reportKey = createApiKey();
const policyKey = createApiKey();
const oddKey = createApiKey();
const agents = { name: "agents", organization_id: "acme", scopes: "runtime", revoked: false };
const keys = new Map([
  [runtimeKey.hash, { ...agents, id: "key-1" }],
  [reportKey.hash, { ...agents, id: "key-3", scopes: "report" }],
  [policyKey.hash, { ...agents, id: "key-4", scopes: "policy" }],
  [oddKey.hash, { ...agents, id: "key-5", scopes: "Report" }],
  [revokedKey.hash, { ...agents, id: "key-2", name: "old", revoked: true }],
]);
const DEFAULT = { organization: "default", actor: undefined };
const ADA = {
  organization: "acme",
  actor: { kind: "user", id: "ada", email: "ada@example.com", role: "admin" },
};
const KEY = { organization: "acme", actor: { kind: "key", id: "key-1", name: "agents" } };

function setUp(requireAuth: boolean, roles: RolesMode = "carried") {
  const touched: unknown[] = [];
  const resolve = createCallerResolver({
    requireAuth: () => requireAuth,
    roles,
    secret: SECRET,
    now: () => NOW,
    users: { findById: (id) => accounts.find((account) => account.id === id) },
    keys: {
      findByHash: (hash) => keys.get(hash),
      touch: (...use) => void touched.push(use),
    },
  });
  return {
    touched,
    caller: (demand: DemandName, authorization?: string, apiKey?: string) =>
      whose(resolve(DEMANDS[demand], "v1", { authorization, apiKey })),
    as: (demand: Demand, authorization?: string, apiKey?: string) =>
      whose(resolve(demand, "v1", { authorization, apiKey })),
    resolve,
  };
}

/** A caller without the token, which has its own tests. */
function whose(caller: Awaitable<Caller>) {
  assert.ok(!(caller instanceof Promise), "It came late");
  const { organization, actor } = caller;
  return { organization, actor };
}

function bearer(claims: Partial<Claims> = {}): string {
  const { id: sub, email, role, organization_id, credential_version: cv } = ada;
  const exp = NOW / 1_000 + 60;
  return `Bearer ${signToken({ sub, email, role, organization_id, cv, exp, ...claims }, SECRET)}`;
}

function refusedToken(error: unknown): boolean {
  return error instanceof Unauthenticated && error.tokenRefused;
}

function refused(error: unknown): boolean {
  return error instanceof Unauthenticated && !error.tokenRefused;
}

for (const surface of ["public", "portal"] as const) {
  test(`on ${surface} credentials are neither required nor checked`, () => {
    const { resolve, touched } = setUp(true);
    for (const credentials of [
      { authorization: undefined, apiKey: undefined },
      { authorization: "Bearer nonsense", apiKey: "nonsense" },
      { authorization: bearer(), apiKey: runtimeKey.text },
    ]) {
      assert.deepEqual(resolve(DEMANDS.user, surface, credentials), DEFAULT);
    }
    assert.deepEqual(touched, []);
  });
}

test("an open route of v1 ignores credentials", () => {
  assert.deepEqual(setUp(true).caller("open", "Bearer nonsense", "nonsense"), DEFAULT);
});

const DEMANDS = {
  runtime: { access: "user", keys: "audit.read" },
  user: { access: "user" },
  always: { access: "always" },
  open: { access: "open" },
} as const satisfies Record<string, Demand>;
type DemandName = keyof typeof DEMANDS;

const demands = ["runtime", "user", "always"] as const;

for (const isRequired of [true, false]) {
  for (const demand of demands) {
    const { caller } = setUp(isRequired);
    const when = `a ${demand} route, authentication ${isRequired ? "on" : "off"}`;
    const needsToken = demand === "always" || (isRequired && demand === "user");

    test(`${when}: a token is accepted`, () => {
      assert.deepEqual(caller(demand, bearer()), ADA);
    });
    test(`${when}: a key alone is ${needsToken ? "refused" : "accepted"}`, () => {
      if (needsToken) assert.throws(() => caller(demand, undefined, runtimeKey.text), refused);
      else assert.deepEqual(caller(demand, undefined, runtimeKey.text), KEY);
    });
    test(`${when}: a request without credentials is ${needsToken || isRequired ? "refused" : "accepted"}`, () => {
      if (needsToken || isRequired) assert.throws(() => caller(demand), refused);
      else assert.deepEqual(caller(demand), DEFAULT);
    });
    test(`${when}: a wrong token is refused`, () => {
      assert.throws(() => caller(demand, "Bearer nonsense"), refusedToken);
      assert.throws(() => caller(demand, "Bearer"), refusedToken);
      assert.throws(() => caller(demand, "Bearer nonsense", runtimeKey.text), refusedToken);
    });
    test(`${when}: a wrong key is refused`, () => {
      assert.throws(() => caller(demand, undefined, createApiKey().text), refused);
      assert.throws(() => caller(demand, undefined, revokedKey.text), refused);
      assert.throws(() => caller(demand, undefined, ""), refused);
      assert.throws(() => caller(demand, bearer(), "nonsense"), refused);
    });
    test(`${when}: with token and key of one organization the user acts`, () => {
      assert.deepEqual(caller(demand, bearer(), runtimeKey.text), ADA);
    });
    test(`${when}: token and key of different organizations are refused`, () => {
      const guest = bearer({ sub: "guest", organization_id: "default" });
      assert.throws(() => caller(demand, guest, runtimeKey.text), refused);
    });
    test(`${when}: another scheme is ignored`, () => {
      if (needsToken || isRequired) assert.throws(() => caller(demand, "Basic YTpi"), refused);
      else assert.deepEqual(caller(demand, "Basic YTpi"), DEFAULT);
    });
    test(`${when}: the token of an inactive user is refused`, () => {
      assert.throws(() => caller(demand, bearer({ sub: "idle" })), refusedToken);
    });
    test(`${when}: a token from before the password was changed is refused`, () => {
      assert.throws(() => caller(demand, bearer({ cv: 1 })), refusedToken);
    });
    test(`${when}: a token that names another organization than its user's is refused`, () => {
      assert.throws(() => caller(demand, bearer({ organization_id: "default" })), refusedToken);
    });
    test(`${when}: an expired token is refused`, () => {
      assert.throws(() => caller(demand, bearer({ exp: NOW / 1_000 })), refusedToken);
    });
  }
}

for (const demand of ["runtime", "user"] as const) {
  test(`a ${demand} route refuses the token of a deleted user`, () => {
    assert.throws(() => setUp(false).caller(demand, bearer({ sub: "gone" })), refusedToken);
  });
}

test("a route about the caller accepts the token of a deleted user, and handles it", () => {
  assert.deepEqual(setUp(true).caller("always", bearer({ sub: "gone" })), {
    organization: "acme",
    actor: { kind: "user", id: "gone", email: "ada@example.com", role: "admin" },
  });
});

test("a token without a credential version is checked by its other claims", () => {
  const { id: sub, email, role, organization_id } = ada;
  const claims = { sub, email, role, organization_id, exp: NOW / 1_000 + 1 };
  assert.deepEqual(setUp(true).caller("user", `Bearer ${signToken(claims, SECRET)}`), ADA);
});

test("email and role are the user's present ones, not the token's", () => {
  const token = bearer({ email: "old@example.com", role: "viewer" });
  assert.deepEqual(setUp(true).caller("user", token), ADA);
});

test("the scheme may be written in any letter case", () => {
  assert.deepEqual(setUp(true).caller("user", bearer().replace("Bearer ", "bEARER  ")), ADA);
});

test("prototype names are not found as users", () => {
  for (const sub of ["__proto__", "constructor", "toString"]) {
    assert.throws(() => setUp(true).caller("user", bearer({ sub })), refusedToken);
  }
});

function forbidden(message: string) {
  return (error: unknown) => error instanceof Forbidden && error.message === message;
}

const OPERATORS: Demand = { access: "user", role: "operator" };
const ADMINS: Demand = { access: "user", role: "admin" };

test("an enforced role includes the lower roles, and a refusal names the sufficient roles", () => {
  const { as } = setUp(false, "enforced");
  for (const sub of ["vera", "otto", "ada"]) void as(DEMANDS.user, bearer({ sub }));
  for (const sub of ["otto", "ada"]) void as(OPERATORS, bearer({ sub }));
  void as(ADMINS, bearer());
  const refusal = forbidden("This takes the role operator or admin; yours is viewer");
  assert.throws(() => as(OPERATORS, bearer({ sub: "vera" })), refusal);
  const forAdmins = forbidden("This takes the role admin; yours is operator");
  assert.throws(() => as(ADMINS, bearer({ sub: "otto" })), forAdmins);
});

test("an unknown role counts as viewer", () => {
  const refusal = forbidden("This takes the role operator or admin; yours is viewer");
  assert.throws(() => setUp(true, "enforced").as(OPERATORS, bearer({ sub: "odd" })), refusal);
});

test("the stored role counts, not the one in the token", () => {
  const token = bearer({ sub: "vera", role: "admin" });
  assert.throws(() => setUp(true, "enforced").as(OPERATORS, token), Forbidden);
});

test("carried roles restrict nothing", () => {
  void setUp(true, "carried").as(ADMINS, bearer({ sub: "vera" }));
});

test("a role does not restrict callers without a token", () => {
  const { as } = setUp(false, "enforced");
  assert.deepEqual(as(ADMINS), DEFAULT);
  assert.deepEqual(as(ADMINS, undefined, runtimeKey.text), KEY);
});

for (const isRequired of [true, false]) {
  test(`a key needs the scope of the route, authentication ${isRequired ? "on" : "off"}`, () => {
    const { as } = setUp(isRequired);
    void as({ access: "user", keys: "audit.report" }, undefined, reportKey.text);
    void as({ access: "user", keys: "policy.publish" }, undefined, policyKey.text);
    const noReading = forbidden(
      "This API key has the scope report, which does not include reading the audit",
    );
    assert.throws(() => as(DEMANDS.runtime, undefined, reportKey.text), noReading);
    const noReporting = forbidden(
      "This API key has the scope policy, which does not include reporting audit events",
    );
    const reporting: Demand = { access: "user", keys: "audit.report" };
    assert.throws(() => as(reporting, undefined, policyKey.text), noReporting);
  });
}

test("an unknown scope acts as runtime", () => {
  void setUp(true).as(DEMANDS.runtime, undefined, oddKey.text);
});

test("a runtime key cannot publish while credentials are required", () => {
  const publishing: Demand = { access: "user", keys: "policy.publish" };
  assert.throws(() => setUp(true).as(publishing, undefined, runtimeKey.text), refused);
  assert.deepEqual(setUp(false).as(publishing, undefined, runtimeKey.text), KEY);
});

test("a key's limited scope binds even if no credentials are required", () => {
  const words = "This API key has the scope report, which does not include what only users may do";
  const refusal = forbidden(words);
  assert.throws(() => setUp(false).as(DEMANDS.user, undefined, reportKey.text), refusal);
  assert.throws(() => setUp(true).as(DEMANDS.user, undefined, reportKey.text), refused);
});

test("with token and key the user's role binds, and the key's scope does not", () => {
  const { as } = setUp(true, "enforced");
  assert.deepEqual(as(DEMANDS.runtime, bearer(), reportKey.text), ADA);
  assert.throws(() => as(OPERATORS, bearer({ sub: "vera" }), runtimeKey.text), Forbidden);
});

test("a key that is refused for its scope does not count as used", () => {
  const { as, touched } = setUp(true);
  assert.throws(() => as(DEMANDS.runtime, undefined, reportKey.text), Forbidden);
  assert.deepEqual(touched, []);
});

test("only accepted uses of a key are recorded", () => {
  const { caller, touched } = setUp(true);
  void caller("runtime", undefined, runtimeKey.text);
  void caller("user", bearer(), runtimeKey.text);
  assert.throws(() => caller("user", undefined, runtimeKey.text));
  assert.throws(() => caller("runtime", undefined, revokedKey.text));
  assert.throws(() => caller("runtime", "Bearer nonsense", runtimeKey.text));
  assert.deepEqual(touched, [
    ["acme", "key-1", NOW],
    ["acme", "key-1", NOW],
  ]);
});

test("no refusal repeats a credential", () => {
  const { caller } = setUp(true);
  const token = bearer({ exp: 1 });
  for (const attempt of [
    () => caller("user", token),
    () => caller("runtime", undefined, revokedKey.text),
  ]) {
    assert.throws(attempt, (error: Error) => {
      return !error.message.includes(token.slice(7)) && !error.message.includes(revokedKey.text);
    });
  }
});

test("asynchronous look-ups give the same caller", async () => {
  const resolve = createCallerResolver({
    requireAuth: () => true,
    roles: "carried",
    secret: SECRET,
    now: () => NOW,
    users: { findById: (id) => Promise.resolve(accounts.find((account) => account.id === id)) },
    keys: { findByHash: (hash) => Promise.resolve(keys.get(hash)), touch: () => {} },
  });
  const credentials = { authorization: bearer(), apiKey: runtimeKey.text };
  assert.deepEqual(whose(await resolve(DEMANDS.user, "v1", credentials)), ADA);
  const withRevoked = { authorization: bearer(), apiKey: revokedKey.text };
  await assert.rejects(async () => resolve(DEMANDS.user, "v1", withRevoked), refused);
});

test("the switch is read on every request", () => {
  let isRequired = false;
  const resolve = createCallerResolver({
    requireAuth: () => isRequired,
    roles: "carried",
    secret: SECRET,
    now: () => NOW,
    users: { findById: () => undefined },
    keys: { findByHash: () => undefined, touch: () => {} },
  });
  const nothing = { authorization: undefined, apiKey: undefined };
  assert.deepEqual(resolve(DEMANDS.user, "v1", nothing), DEFAULT);
  isRequired = true;
  assert.throws(() => resolve(DEMANDS.user, "v1", nothing), refused);
});

test("the caller has its token, which is refused after it was ended", async () => {
  const [shown, other] = [bearer(), bearer({ iat: 1 })];
  const id = tokenId(shown);
  const resolver = (account: Account) =>
    createCallerResolver({
      requireAuth: () => true,
      roles: "carried",
      secret: SECRET,
      now: () => NOW,
      users: { findById: () => account },
      keys: { findByHash: () => undefined, touch: () => {} },
    });
  const show = (account: Account, authorization: string) =>
    resolver(account)(DEMANDS.user, "v1", { authorization, apiKey: undefined });
  const { token } = await show(ada, shown);
  assert.deepEqual(token, { id, exp: NOW / 1_000 + 60, cv: 2 });
  const left = { ...ada, ended_tokens: [{ id: "another" }, { id }] };
  assert.throws(() => show(left, shown), Unauthenticated);
  assert.equal((await show(left, other)).organization, "acme");
});
