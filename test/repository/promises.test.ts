/** Holds the numbers of the README's promises to the constants and defaults that make them true. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { settingRows } from "../../src/config.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/core/clock.ts";
import { TooLarge } from "../../src/core/errors.ts";
import { LIMITS } from "../../src/http/server.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const UNITS = { SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS } as const;

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const promises = (read("README.md").split("\n## Promises\n")[1] ?? "")
  .split("\n## ", 1)
  .join("")
  .replaceAll(/\s+/g, " ");

/** The value of a constant or property that a file writes as a number, a product, or a shift. */
function constant(file: string, name: string): number {
  const found = new RegExp(`\\b${name}(?: =|:) ([\\dA-Z][^;,\\n]*?)[;,]`).exec(
    read(`src/${file}`),
  )?.[1];
  assert.ok(found !== undefined, `src/${file} has no ${name}`);
  const numberOf = (text: string): number => {
    const own = UNITS[text as keyof typeof UNITS] ?? Number(text.replaceAll("_", ""));
    assert.ok(Number.isFinite(own), `src/${file}: ${name} is ${found}, which is not understood`);
    return own;
  };
  const [, base, operator, by] = /^(\w+)(?: (<<|\*\*|\*) (\w+))?$/.exec(found) ?? [];
  if (operator === "<<") return numberOf(base ?? "") * 2 ** numberOf(by ?? "");
  if (operator === "**") return numberOf(base ?? "") ** numberOf(by ?? "");
  return numberOf(base ?? found) * (by === undefined ? 1 : numberOf(by));
}

const setting = (variable: string): number =>
  Number(settingRows.find((row) => row.variable === variable)?.fallback);
const grouped = (count: number): string => count.toLocaleString("en");
const seconds = (ms: number): number => ms / SECOND_MS;

const throttle = (name: string) => constant("auth/throttle.ts", name);
const password = (name: string) => constant("auth/password.ts", name);
const line = (name: string) => constant("auth/password-line.ts", name);
const service = (name: string) => constant("service.ts", name) / MIB;
const text = (name: string) => constant("audit/ingest.ts", name);
const check = (name: string) => constant("policies/check.ts", name);
const nodes = (name: string) => constant("policies/document-nodes.ts", name);
const json = (name: string) => constant("core/json.ts", name);

const page = (file: string, name: string) => constant(`portal/pages/${file}`, name);

/** Each as the README has it, with the numbers of the code in it. */
const said = [
  `| 16 KiB, within ${seconds(LIMITS.headersTimeout)} s |`,
  `| request line and headers | ${LIMITS.maxHeaderSize / KIB} KiB`,
  `| ${setting("MAX_BODY_BYTES") / MIB} MiB, the request within ${seconds(LIMITS.requestTimeout)} s |`,
  `| all bodies in flight | ${service("BODIES_IN_FLIGHT_BYTES")} MiB, shared |`,
  `| bodies above ${constant("http/body.ts", "LARGE_BODY_BYTES") / KIB} KiB that are worked on | ${service("BODIES_IN_WORK_BYTES")} MiB |`,
  `(\`MAX_BATCH_EVENTS\`) | ${grouped(setting("MAX_BATCH_EVENTS"))} | ${new TooLarge("").status} |`,
  `| ${text("LONG_TEXT") / MIB} MiB; ${text("SHORT_TEXT") / KIB} KiB |`,
  `above ${json("SHORT_TEXT") / KIB} Ki characters different names, objects and lists, values | ${json("MAX_DEPTH")}; ${["MAX_NAMES", "MAX_CONTAINERS", "MAX_VALUES"].map((name) => grouped(json(name))).join(", ")} |`,
  `| ${constant("policies/document.ts", "MAX_DOCUMENT_BYTES") / MIB} MiB; ${constant("policies/document-nodes.ts", "MAX_DEPTH")}; ${seconds(constant("policies/check-thread.ts", "TIME_LIMIT_MS"))} s |`,
  `| ${grouped(nodes("MAX_ALIASED_NODES"))} nodes, ${nodes("MAX_ALIASED_CHARACTERS") / MIB} Mi characters |`,
  `| ${grouped(constant("policies/work.ts", "MAX_STEPS"))} steps each (compared characters) |`,
  `of one organization and prefix | ${check("MAX_WAITING")}; ${check("MAX_WAITING_OF_ONE")}, in turns |`,
  `an organization | ${constant("storage/append-log.ts", "MAX_HELD") / MIB} Mi characters |`,
  `| ${grouped(setting("MAX_CONNECTIONS"))}, idle for ${seconds(LIMITS.keepAliveTimeout)} s, shared |`,
  `on one connection | ${constant("http/pipeline.ts", "MAX_WAITING_REQUESTS")} |`,
  `| ${service("UNREAD_ANSWERS_BYTES")} MiB, each stalled for ${seconds(constant("http/respond.ts", "STALLED_MS"))} s, shared |`,
  `| ${constant("service.ts", "MADE_AT_ONCE")}; ${constant("service.ts", "SENT_AT_ONCE")}, half of them for one user |`,
  `| requests that wait for that turn | ${constant("service.ts", "LINE_LENGTH")}, shared | 503 |`,
  `| ${grouped(page("policy-text.ts", "MOST_LINES"))}; ${grouped(page("policy-text.ts", "MOST_CHARACTERS"))} | cut`,
  `| ${page("policies.ts", "MOST_VERSIONS")}; ${page("access.ts", "MOST_ROWS")}; ${page("fleet.ts", "MOST_FLEET_ROWS")} |`,
  `| ${grouped(constant("dashboard/routes.ts", "MOST_CHARACTERS"))}; ${grouped(constant("portal/loaders/events.ts", "MOST_IN_LIST"))}; ${grouped(constant("portal/loaders/events.ts", "MOST_IN_EVENT"))} characters |`,
  `| ${constant("audit/stream.ts", "perOrganization")}, an hour each, ${constant("audit/stream.ts", "MAX_WAITING_BYTES") / KIB} KiB unread, shared |`,
  `| ${constant("audit/tickets.ts", "MAX_TICKETS")} unused, ${seconds(constant("audit/tickets.ts", "LIFETIME_MS"))} s each, shared |`,
  `| buckets of a histogram | ${grouped(constant("audit/histogram.ts", "MAX_BUCKETS"))} |`,
  `| ${throttle("FAILURES_PER_EMAIL")} for an email and address, ${throttle("FAILURES_PER_ADDRESS")} for an address |`,
  `(scrypt, N=2^${Math.log2(password("DEFAULT_COST"))}, r=${password("BLOCK_SIZE")}, p=${password("PARALLELIZATION")}) | 1 at a time; ${line("MAX_WAITING")} wait to sign in, ${line("MAX_WAITING")} to be set |`,
  `| ${grouped(constant("settings/schema.ts", "MAX_SETTINGS"))} | 400 |`,
  `at least the last ${grouped(constant("storage/files/audit/write/recent-ids.ts", "KNOWN_IDS"))} events`,
  `| nothing, written within ${seconds(constant("storage/files/keys.ts", "FLUSH_AFTER_MS"))} seconds |`,
  `A token lasts \`JWT_EXPIRY_HOURS\`, ${setting("JWT_EXPIRY_HOURS")} hours by default`,
];

for (const sentence of said) {
  test(`the README promises what the code does: ${sentence}`, () => {
    assert.ok(promises.includes(sentence), `README.md, "Promises": expected "${sentence}"`);
  });
}

test("what is promised by the minute or the hour is what the code counts by", () => {
  assert.equal(throttle("WINDOW_MS"), MINUTE_MS);
  assert.equal(constant("audit/stream.ts", "lifetimeMs"), HOUR_MS);
});

test("the least durable answers are the ones that the table of promises names", () => {
  const durable = settingRows.find(({ variable }) => variable === "AUDIT_DURABILITY");
  assert.equal(durable?.fallback, "sync");
  assert.match(
    promises,
    /`AUDIT_DURABILITY=write` \| written \| kept \| what came in the last second/,
  );
});
