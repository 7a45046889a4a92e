/** Random requests through all routes, right and wrong ones, to send to two services and compare the answers. */
import fc from "fast-check";
import { DAY_MS, MINUTE_MS } from "../../src/core/clock.ts";
import { ADMIN, START_TIME } from "./start.ts";

const NOON = Date.parse(START_TIME);

/** The kinds of things that a service draws. */
export type Kind = "event" | "key" | "secret" | "user" | "token" | "cursor" | "ticket";

/** A request; `<kind:n>` in its path or headers stands for the nth thing of a kind that was drawn. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly as: string;
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const someText = fc.constantFrom(
  ...["git push", "Git", "ls -la", "ÄÖ", "İx", "a%b_c", "\\", "\u0000", "\ud800", "\ufde0", "😀 x"],
  ...["", "  ", "x".repeat(300), "\n\t", '","', "=1+1", "none"],
);
const someTime = fc
  .integer({ min: -60, max: 30 })
  .map((hours) => new Date(NOON + hours * 60 * MINUTE_MS + (hours % 3)).toISOString());
/** Mostly right values. */
const mostly = <T>(right: fc.Arbitrary<T>, ...wrong: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 40, arbitrary: right }, { weight: 1, arbitrary: fc.constantFrom(...wrong) });
const someMoment = mostly(someTime, "today", "2026-02-30T00:00:00Z", "", "0");
const someEvent = fc.record(
  {
    id: fc.nat(30).map((n) => `e${n}`),
    timestamp: someMoment,
    command: someText,
    user: someText,
    tool: fc.constantFrom("git", "aws", "npm", "none"),
    capability: someText,
    resource: someText,
    decision: mostly(fc.constantFrom("ALLOWED", "denied", "Allowed", ""), "perhaps"),
    consumer: mostly(fc.constantFrom("human", "AI", "ci", ""), "robot"),
    ai: fc.boolean(),
    reason: someText,
    status: fc.constantFrom("failed", "error", "allowed", ""),
    policyVersion: fc.constantFrom("v1", "v2", ""),
    runtimeName: someText,
    traceId: fc.constantFrom("t1", "t2", "t".repeat(100)),
    durationMs: mostly(fc.constantFrom(0, 1, 1.5), -1, 10 ** 12),
  },
  { requiredKeys: [] },
);
const numbers = fc.constantFrom("0", "1", "2", "7", "100", "1000", "1001", "-1", "x", "1.5", "");
const someFilter = {
  q: someText,
  executor: someText,
  consumer: fc.constantFrom("human", "ai", "ci", "robot", ""),
  provider: fc.constantFrom("git", "aws", "none", ""),
  capability: someText,
  decision: fc.constantFrom("allowed", "DENIED", "perhaps", ""),
  policy: fc.constantFrom("v1", "v2", ""),
  status: fc.constantFrom("failed", "unknown", ""),
  runtime: someText,
  trace_id: fc.constantFrom("t1", "t".repeat(100)),
  reported_by: fc.constantFrom("<user:0>", "<key:0>", "<key:1>", "none"),
  from: someMoment,
  to: someMoment,
};

/** Some of the parameters, as a query. */
function query(parameters: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<string> {
  return fc.shuffledSubarray(Object.keys(parameters), { maxLength: 3 }).chain((names) =>
    fc.tuple(...names.map((name) => parameters[name] as fc.Arbitrary<string>)).map((values) => {
      const pairs = names.map((name, n) => `${name}=${encoded(values[n] as string)}`);
      return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
    }),
  );
}

function encoded(text: string): string {
  return text.startsWith("<") ? text : encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd"));
}

/** The header of a token. */
export const bearer = (n: number) => JSON.stringify({ authorization: `Bearer <token:${n}>` });
const someCaller = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(bearer(0), bearer(1)) },
  { weight: 4, arbitrary: fc.nat(9).map(bearer) },
  { weight: 2, arbitrary: fc.nat(9).map((n) => JSON.stringify({ "x-api-key": `<secret:${n}>` })) },
  { weight: 1, arbitrary: fc.constantFrom("", JSON.stringify({ authorization: "Bearer x" })) },
);
const v1 = fc.constantFrom("/api/v1", "/api/v1", "/api/public");

function sent(
  method: string,
  path: fc.Arbitrary<string>,
  body?: fc.Arbitrary<unknown>,
  prefix: fc.Arbitrary<string> = v1,
): fc.Arbitrary<Sent> {
  return fc
    .tuple(prefix, path, body ?? fc.constant(undefined), someCaller)
    .map(([start, rest, given, as]) => ({ method, path: start + rest, body: given, as }));
}

const only = <const T>(value: T): fc.Arbitrary<T> => fc.constant(value);
const ref = (path: string, kind: Kind) => fc.nat(9).map((n) => `${path}/<${kind}:${n}>`);
const versions = fc.constantFrom("", "v1", "v2", "v3", "a/b ü", ".", "x".repeat(129), "\u0000");
const yaml = fc.constantFrom("rules: []\n", "a: 1", "# é\r\na: [1, 2]", "", "a: [", "a: \ud800");
const rules = fc.constantFrom(
  "rules:\n  - deny: git push\n",
  "version: 1\nrules:\n  - capability: git/*\n    decision: deny\n",
);
const runtime = fc.constantFrom("r1", "r2", " r2 ", "a/b ü", "  ", "R\u00001", "x".repeat(300));
const report = fc.record(
  {
    name: runtime,
    hostname: someText,
    os: fc.constantFrom("linux", "mac", ""),
    version: fc.constantFrom("1", "2"),
    policy_version: fc.constantFrom("v1", "v2", ""),
  },
  { requiredKeys: ["name"] },
);
const emails = fc.constantFrom("a@example.com", "B@example.com", "b@EXAMPLE.com", "none", "");
const passwords = fc.constantFrom(ADMIN.password, "another good password", "short");
const pair = fc.record({ key: fc.constantFrom("a", "b", "__proto__", ""), value: someText });
const portal = ["/portal/policies", "/portal/fleet", "/portal/audit", "/portal/access/activity"];
const names = fc.constantFrom("Acme", "Über Inc.", "acme", "", "x".repeat(300));
const slugs = maybe(fc.constantFrom("acme", "other", "A b", "default"));

const often = [
  sent("POST", only("/audit"), someEvent),
  sent("POST", only("/audit"), fc.record({ events: fc.array(someEvent, { maxLength: 8 }) })),
  sent(
    "GET",
    query({ ...someFilter, limit: numbers, offset: numbers }).map((q) => `/audit${q}`),
  ),
  sent(
    "GET",
    query({ ...someFilter, limit: only("3") }).map((q) => `/audit${q}`),
  ),
  sent(
    "GET",
    query({ ...someFilter, format: fc.constantFrom("csv", "ndjson", "x"), bom: only("true") }).map(
      (q) => `/audit/export${q}`,
    ),
  ),
  sent(
    "GET",
    query({ ...someFilter, interval: fc.constantFrom("1m", "5m", "1h", "1d", "x") }).map(
      (q) => `/audit/histogram${q}`,
    ),
  ),
  sent("POST", only("/fleet/heartbeat"), report),
  sent("POST", only("/policies"), fc.record({ version: versions, name: names, yaml })),
];
const sometimes = [
  sent("GET", fc.constantFrom("/policies", "/policies?active=true", "/policies?texts=false")),
  sent(
    "GET",
    versions.map((version) => `/policies/${encoded(version)}`),
  ),
  sent(
    "POST",
    versions.map((version) => `/policies/${encoded(version)}/activate`),
    only("{}"),
  ),
  sent("POST", only("/policies/validate"), fc.record({ yaml })),
  sent("POST", only("/policies/simulate"), fc.record({ yaml: rules, command: someText })),
  sent(
    "POST",
    only("/policies/replay"),
    fc.record({ yaml: rules, base: only("recorded"), examples: only(0) }),
  ),
  sent("POST", only("/policies/draft-rule"), fc.record({ event_id: fc.constantFrom("e1", "e2") })),
  sent(
    "GET",
    fc.nat(30).map((n) => `/audit/e${n}`),
  ),
  sent("GET", ref("/audit", "event")),
  sent(
    "GET",
    fc.nat(9).map((n) => `/audit?limit=2&cursor=<cursor:${n}>`),
  ),
  sent("GET", only("/audit?cursor=nonsense")),
  sent("POST", only("/audit/export-tickets"), fc.record({ q: someText }, { requiredKeys: [] })),
  sent("GET", ref("/audit/export-tickets", "ticket")),
  sent("POST", only("/runtime/heartbeat"), report),
  sent("POST", only("/runtime/register"), report),
  sent(
    "GET",
    query({
      q: someText,
      status: fc.constantFrom("online", "idle", "offline", "x"),
      policy_version: fc.constantFrom("v1", ""),
      drifted: fc.constantFrom("true", "false", "x"),
      limit: numbers,
      offset: numbers,
    }).map((q) => `/fleet${q}`),
  ),
  sent("GET", only("/fleet/summary")),
  sent(
    "DELETE",
    runtime.map((name) => `/fleet/${encoded(name)}`),
  ),
  sent("GET", only("/dashboard")),
  sent("GET", fc.constantFrom("/providers", "/provider-names", "/capabilities?q=git", "/health")),
  sent(
    "PUT",
    fc.constantFrom("/providers/git", "/providers/aws", "/providers/none"),
    fc.record({ status: fc.constantFrom("offline", "degraded", "x") }),
  ),
  sent("DELETE", fc.constantFrom("/providers/git", "/providers/aws", "/providers/none")),
  sent("GET", only("/auth/me")),
  sent("GET", only("/users")),
  sent("GET", ref("/users", "user")),
  sent(
    "PATCH",
    ref("/users", "user"),
    fc.record(
      { name: names, role: fc.constantFrom("viewer", "admin", "x"), active: fc.boolean() },
      { requiredKeys: [] },
    ),
  ),
  sent("DELETE", ref("/users", "user")),
  sent("GET", fc.constantFrom("/organizations", "/organizations/acme", "/organizations/none")),
  sent(
    "PATCH",
    fc.constantFrom("/organizations/default", "/organizations/acme"),
    fc.record({ name: names }),
  ),
  sent("GET", only("/api-keys")),
  sent("POST", only("/api-keys"), fc.record({ name: names, scopes: maybe(only(["audit.write"])) })),
  sent("DELETE", ref("/api-keys", "key")),
  sent("GET", only("/settings")),
  sent("PUT", only("/settings"), fc.record({ settings: fc.array(pair, { maxLength: 4 }) })),
  sent(
    "GET",
    query({
      action: fc.constantFrom("policy", "policy.publish", "login", "x", ""),
      actor: fc.constantFrom(ADMIN.email, "anonymous", "x"),
      target: fc.constantFrom("v1", "x"),
      q: someText,
      from: someMoment,
      to: someMoment,
      limit: numbers,
      offset: numbers,
    }).map((q) => `/activity${q}`),
  ),
  sent("GET", fc.constantFrom(...portal), undefined, only("")),
];
const rarely = [
  sent("POST", only("/auth/login"), fc.record({ email: emails, password: passwords })),
  sent("POST", only("/auth/login"), only({ ...ADMIN })),
  sent("POST", only("/auth/logout")),
  sent(
    "PUT",
    only("/auth/password"),
    fc.record({ current: passwords, password: only("another good password") }),
  ),
  sent(
    "POST",
    only("/users"),
    fc.record(
      { email: emails, name: names, role: fc.constantFrom("viewer", "admin"), password: passwords },
      { requiredKeys: ["email", "password"] },
    ),
  ),
  sent(
    "POST",
    only("/organizations"),
    fc.record({ name: names, slug: slugs, admin_email: emails, admin_password: passwords }),
  ),
];
/** Any request: those of the audit log most often, those that hash a password rarely. */
export const someRequest = fc.oneof(
  ...often.map((arbitrary) => ({ weight: 6, arbitrary })),
  ...sometimes.map((arbitrary) => ({ weight: 3, arbitrary })),
  ...rarely.map((arbitrary) => ({ weight: 1, arbitrary })),
);
/** How long to wait before a request. */
export const waits = fc.constantFrom(0, 0, 0, 0, 1, 1_000, 61_000, 16 * MINUTE_MS, DAY_MS / 3);
