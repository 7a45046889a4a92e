/**
 * Sends the same random requests, through all routes, to a server over files and to servers over PostgreSQL, and
 * compares every answer byte for byte. What each service draws (ids, keys, tokens, cursors, tickets) is compared
 * by the place where it was first seen.
 *
 * `DIFFERENTIAL_REQUESTS` is the number of requests; `FUZZ_SEED` repeats them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Answer, SentHeaders } from "../../support/client.ts";
import { withoutPostgres } from "../../support/postgres.ts";
import { bearer, someRequest, waits, type Kind, type Sent } from "../../support/random-requests.ts";
import { startThree } from "../../support/servers.ts";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../../support/start.ts";

const REQUESTS = Number(process.env["DIFFERENTIAL_REQUESTS"] ?? 300);

/** Headers that are part of the contract. `ETag` is each engine's own. */
const HEADERS = [
  ...["content-type", "content-disposition", "retry-after", "x-total-count", "location", "allow"],
  ...["cache-control", "vary", "www-authenticate", "link"],
];
const DRAWN = new RegExp(
  [
    "sbx_[A-Za-z0-9_-]{43}", // a key
    "sbx_[A-Za-z0-9_-]+", // how a key begins
    "eyJ[A-Za-z0-9_.-]+", // a token
    "(?<=export-tickets/)[A-Za-z0-9_-]+",
    '(?<="next_cursor":")[^"]+',
    '(?<="runtimeId":")[^"]+',
    "\\b[0-9a-hjkmnp-tv-z]{26}\\b", // an id
  ].join("|"),
  "g",
);

/** A service, and what it has drawn. */
class Side {
  readonly #servers: readonly App[];
  readonly #drawn = new Map<Kind, string[]>();
  readonly #names = new Map<string, string>();
  #turn = 0;

  constructor(servers: readonly App[]) {
    this.#servers = servers;
  }

  advance(ms: number): void {
    for (const server of this.#servers) server.advance(ms);
  }

  async restart(): Promise<void> {
    for (const server of this.#servers) await server.restart();
  }

  /** Sends a request to the server whose turn it is, and gives the answer in a form that can be compared. */
  async answerTo({ method, path, body, as }: Sent): Promise<string> {
    // Each server notes the uses of keys for some seconds.
    const isOfKeys = as.includes("secret") || path.includes("/api-keys");
    const server = this.#servers[isOfKeys ? 0 : this.#turn++ % this.#servers.length] as App;
    const headers: SentHeaders = as === "" ? {} : (JSON.parse(this.#filled(as)) as SentHeaders);
    const answer = await server.request(method, this.#filled(path), body, headers);
    this.#learn(method, path, answer);
    const kept = HEADERS.flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [`${name}: ${value}`];
    });
    const whole = [String(answer.status), ...kept, "", answer.text].join("\n");
    // The file engine also counts line separators and the marks of continued batches.
    const counted = whole.replace(/(?<="audit":\{.*"bytes":)\d+/, "…");
    const alike = counted.replaceAll('},\n{"id"', '},{"id"');
    return alike.replaceAll(new URL(server.url).host, "HOST").replaceAll(DRAWN, (drawn) => {
      const name = this.#names.get(drawn) ?? `#${this.#names.size}`;
      this.#names.set(drawn, name);
      return name;
    });
  }

  #filled(text: string): string {
    return text.replaceAll(/<(\w+):(\d+)>/g, (_, kind: Kind, n: string) => {
      const all = this.#drawn.get(kind) ?? [];
      return encodeURIComponent(all.at(-1 - (Number(n) % Math.max(1, all.length))) ?? "none");
    });
  }

  #learn(method: string, path: string, { status, body }: Answer): void {
    const learn = (kind: Kind, value: unknown): void => {
      if (typeof value !== "string") return;
      const all = this.#drawn.get(kind) ?? [];
      this.#drawn.set(kind, [...all, value].slice(-20));
    };
    if (body === undefined || status >= 300) return;
    learn("cursor", body.next_cursor);
    if (method !== "POST") return;
    if (path.endsWith("/api-keys")) {
      learn("key", body.id);
      learn("secret", body.api_key);
    }
    if (path.endsWith("/users")) learn("user", body.id);
    if (path.endsWith("/login")) learn("token", body.token);
    if (path.endsWith("/export-tickets")) learn("ticket", body.url?.split("/").at(-1));
    if (path.endsWith("/audit")) learn("event", body.id);
  }
}

test("every answer over PostgreSQL is that over files", { skip: withoutPostgres }, async (t) => {
  const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`seed ${seed}`);
  const settings = { ...ADMIN_SETTINGS, requireAuth: true, jwtExpiryHours: 24 * 365 };
  const files = new Side([await start(t, settings)]);
  const postgres = new Side((await startThree(t, settings)).slice(0, 2));
  const statuses = new Map<string, number>();
  const compare = async (request: Sent, at: number): Promise<void> => {
    const expected = await files.answerTo(request);
    const found = await postgres.answerTo(request);
    const what = `request ${at} of seed ${seed}: ${JSON.stringify(request)}`;
    assert.equal(found, expected, what);
    const status = expected.slice(0, 3);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const login = { method: "POST", path: "/api/v1/auth/login", body: { ...ADMIN }, as: "" };
  const other = { name: "Other", admin_email: "o@example.com", admin_password: ADMIN.password };
  const create = { method: "POST", path: "/api/v1/organizations", body: other, as: bearer(0) };
  await compare(login, -3);
  await compare(create, -2);
  const otherLogin = { ...login, body: { email: other.admin_email, password: ADMIN.password } };
  await compare(otherLogin, -1);
  const requests = fc.sample(fc.tuple(waits, someRequest), { numRuns: REQUESTS, seed });
  for (const [at, [ms, request]] of requests.entries()) {
    files.advance(ms);
    postgres.advance(ms);
    await compare(request, at);
    // Requests sign users out. Without a new token, which is number 0 then, most later ones would be refused.
    if (at % 25 === 24) for (const one of [otherLogin, login]) await compare(one, at);
    if (at % 500 !== 499) continue;
    await files.restart();
    await postgres.restart();
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(statuses)));
  assert.ok((statuses.get("200") ?? 0) > REQUESTS / 4, "most requests were refused");
});
