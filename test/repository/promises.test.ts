/** Holds the numbers of `docs/promises.md` to the constants and defaults that make them true. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { READINGS_AN_HOUR } from "../../src/activity/readings.ts";
import { MAX_BUCKETS } from "../../src/audit/histogram.ts";
import { LONGEST_OF_RESOURCE, MOST_ATTRIBUTES } from "../../src/audit/otlp/records.ts";
import { checkOwnRules } from "../../src/audit/redaction/own-rules.ts";
import { LARGE_BATCH_EVENTS, REDACTION_TRIALS } from "../../src/audit/routes.ts";
import { FREE_LENGTH } from "../../src/storage/files/label-room.ts";
import * as text from "../../src/audit/event-fields.ts";
import { MAX_WAITING_BYTES, STREAM_LIMITS } from "../../src/audit/stream.ts";
import * as tickets from "../../src/audit/tickets.ts";
import * as line from "../../src/auth/password-line.ts";
import * as password from "../../src/auth/password.ts";
import * as throttle from "../../src/auth/throttle.ts";
import { settingRows } from "../../src/config.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/core/clock.ts";
import { TooLarge } from "../../src/core/errors.ts";
import { MOST_LABEL_LENGTH, PUBLIC_MOST_LABEL_LENGTH } from "../../src/core/quota.ts";
import * as json from "../../src/core/json/json.ts";
import * as longJson from "../../src/core/json/long-json.ts";
import { MOST_CHARACTERS as DASHBOARD_CHARACTERS } from "../../src/dashboard/routes.ts";
import { DEMO_LIMITS } from "../../src/demo/limits.ts";
import * as large from "../../src/http/bodies/large-bodies.ts";
import { CONTAINER_BYTES } from "../../src/http/bodies/body-cost.ts";
import { LARGE_BODY_BYTES } from "../../src/http/bodies/body.ts";
import * as chunks from "../../src/http/bodies/chunk-budget.ts";
import { MOST_LIST_CHARACTERS } from "../../src/http/field-length.ts";
import {
  MAX_WAITING_HEADERS,
  MAX_WAITING_IN_CROWD,
  MAX_WAITING_LENGTH,
  MAX_WAITING_REQUESTS,
  MAX_WAITING_SIZE,
} from "../../src/http/pipeline.ts";
import { MANY } from "../../src/http/newcomers.ts";
import type { TurnLimits } from "../../src/core/scheduling/turns.ts";
import { LINES_A_MINUTE } from "../../src/http/request-log.ts";
import * as pieces from "../../src/http/request-in-pieces.ts";
import { MOST_HEADERS } from "../../src/http/request.ts";
import { STALLED_MS } from "../../src/http/respond.ts";
import { LIMITS } from "../../src/http/server.ts";
import * as turns from "../../src/core/scheduling/turns.ts";
import { TIME_LIMIT_MS } from "../../src/policies/check-thread.ts";
import * as check from "../../src/policies/check.ts";
import { MAX_WRAPPERS } from "../../src/policies/shell/command-parts.ts";
import * as nodes from "../../src/policies/document-nodes.ts";
import { MAX_DOCUMENT_BYTES, MAX_TOKENS } from "../../src/policies/document.ts";
import { MAX_SHELL_DEPTH } from "../../src/policies/shell/expansions.ts";
import { MAX_STEPS } from "../../src/policies/step-budget.ts";
import { DRAFT_READS } from "../../src/portal/server/draft-routes.ts";
import * as events from "../../src/portal/server/stored-rows.ts";
import { MOST_ROWS } from "../../src/portal/pages/access.ts";
import { MOST_FLEET_ROWS } from "../../src/portal/pages/fleet.ts";
import { LISTED_VERSIONS } from "../../src/portal/pages/policies.ts";
import * as policyText from "../../src/portal/pages/policy-text.ts";
import { GENERATION } from "../../src/replay/recent-values.ts";
import { LARGE_LENGTH, MAX_STEPS as REPLAY_STEPS, REPLAYS } from "../../src/replay/replay.ts";
import { LONGEST_NAME, MOST_NAMES } from "../../src/replay/tally.ts";
import { STAGES_LENGTH } from "../../src/rollouts/draft.ts";
import { KEPT_LENGTH, KEPT_ROLLOUTS } from "../../src/rollouts/store.ts";
import * as shared from "../../src/shared-limits.ts";
import { MAX_SETTINGS } from "../../src/settings/schema.ts";
import { MAX_HELD } from "../../src/storage/append-log.ts";
import { MOST_VALUES, MOST_REASONS } from "../../src/storage/files/audit/query/facets.ts";
import { KEPT_CHARACTERS, KEPT_TEXTS } from "../../src/storage/files/audit/query/frequent-texts.ts";
import { KEPT_PART, LONGEST_MS } from "../../src/storage/files/audit/leases.ts";
import { KNOWN_IDS } from "../../src/storage/files/audit/write/recent-ids.ts";
import { FLUSH_AFTER_MS } from "../../src/storage/files/keys.ts";
import {
  EVENT_BYTES,
  MOST_WAITING_BYTES,
} from "../../src/storage/postgres/audit/waiting-events.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const promises = read("docs/promises.md").replaceAll(/\s+/g, " ");

const setting = (variable: string): number =>
  Number(settingRows.find((row) => row.variable === variable)?.fallback);
const grouped = (count: number): string => count.toLocaleString("en");
const inGroups = ({
  atOnce,
  atOnceOfOne,
  atOnceOfGroups: [prefix, organization] = [],
}: TurnLimits) =>
  `${atOnce}: ${prefix} under one prefix, ${organization} of one organization, ${atOnceOfOne} of one user`;
const seconds = (ms: number): number => ms / SECOND_MS;

/** The room of large bodies in MiB: of all, of a prefix, of an organization, and of a user. */
const inWork = (of: keyof typeof large.WORK_PARTS): number =>
  (large.WORK_PARTS[of] * shared.BODIES_IN_WORK_BYTES) / MIB;

/** The sentences of the page, with the numbers of the code in them. */
const said = [
  `| ${KEPT_ROLLOUTS}; ${KEPT_LENGTH / MIB} Mi characters; ${STAGES_LENGTH / KIB} Ki characters |`,
  `labels of an organization's runtimes, together, with 32 characters more for each pair, and over files their names and other texts of more than ${FREE_LENGTH} characters; of reports through \`/api/public\` under \`REQUIRE_AUTH=true\` | ${MOST_LABEL_LENGTH / MIB} Mi characters; ${PUBLIC_MOST_LABEL_LENGTH / MIB} Mi | 429 |`,
  `| request line and headers; headers; trailers | ${LIMITS.maxHeaderSize / KIB} KiB, within ${seconds(LIMITS.headersTimeout)} s; ${MOST_HEADERS}; ${MOST_HEADERS} |`,
  `| \`Accept\`; \`Accept-Encoding\` | ${grouped(MOST_LIST_CHARACTERS)} characters each |`,
  `| chunks of under ${pieces.SMALL_PIECE_BYTES} bytes (\`Transfer-Encoding: chunked\`) in a body | ${grouped(pieces.MOST_SMALL_PIECES)} |`,
  `| chunks of all bodies that arrive in one turn of the event loop | ${grouped(chunks.MOST_OF_A_TURN)} | 503 for bodies with over ${pieces.PIECES_AT_ONCE} of them,`,
  `| chunks of under ${pieces.SMALL_PIECE_BYTES} bytes beyond the first ${pieces.PIECES_AT_ONCE} of a body: of all bodies; of those of an address or IPv6 /64 | ${grouped(chunks.MOST_SMALL)} a second; ${grouped(chunks.MOST_SMALL_OF_NETWORK)} in any case |`,
  `| ${setting("MAX_BODY_BYTES") / MIB} MiB, the request within ${seconds(LIMITS.requestTimeout)} s |`,
  `| all bodies in flight | ${shared.BODIES_IN_FLIGHT_BYTES / MIB} MiB, shared |`,
  `| bodies above ${LARGE_BODY_BYTES / KIB} KiB that are worked on, each \`{\` and \`[\` counted as ${CONTAINER_BYTES} bytes more | ${inWork("all")} MiB: ${inWork("prefix")} under one prefix, ${inWork("organization")} of one organization, ${inWork("address")} of one address, or ${large.ROOM_OF_IDLE * inWork("address")} with the first of an organization, ${inWork("user")} of one address in one organization, or one body; as much again of those that take over a second, for others than their user; a quarter as much again for the first of up to ${(large.SMALL_PART * shared.BODIES_IN_WORK_BYTES) / KIB} KiB of each user |`,
  `(\`MAX_BATCH_EVENTS\`) | ${grouped(setting("MAX_BATCH_EVENTS"))} | ${new TooLarge("").status} |`,
  `| batches of more than ${grouped(LARGE_BATCH_EVENTS)} events that are stored at a time; that wait | ${inGroups(shared.LARGE_BATCHES)}; ${shared.LARGE_BATCHES.waiting}, shared |`,
  `| other batches, and events, that take more than half a millisecond to prepare, at a time; that wait | ${inGroups(shared.BATCHES)}; ${grouped(shared.BATCHES.waiting)}, shared |`,
  `| ${text.LONG_TEXT / MIB} MiB; ${text.SHORT_TEXT / KIB} KiB |`,
  `above ${longJson.LONG_JSON_BYTES / KIB} KiB, counted in the same way, different names, objects and lists, values | ${json.MAX_JSON_DEPTH}; ${[longJson.MAX_NAMES, longJson.MAX_CONTAINERS, longJson.MAX_VALUES].map(grouped).join(", ")} |`,
  `| ${MAX_DOCUMENT_BYTES / MIB} MiB; ${grouped(MAX_TOKENS)}; ${nodes.MAX_NODE_DEPTH} |`,
  `| time to check a policy | ${seconds(TIME_LIMIT_MS)} s |`,
  `| ${grouped(nodes.MAX_ALIASED_NODES)} nodes, ${nodes.MAX_ALIASED_CHARACTERS / MIB} Mi characters |`,
  `| ${grouped(MAX_STEPS)} steps each (compared characters) |`,
  `inside one another | ${MAX_SHELL_DEPTH}; ${MAX_WRAPPERS} |`,
  `| work of a replay | ${grouped(REPLAY_STEPS)} steps |`,
  `| ${grouped(2 * GENERATION.keys)}, ${(2 * GENERATION.characters) / MIB} Mi characters |`,
  `characters of a name | ${grouped(MOST_NAMES)} each; ${LONGEST_NAME} |`,
  `that wait | ${REPLAYS.atOnce}; ${REPLAYS.atOnceOfOne}; ${REPLAYS.waiting}, shared |`,
  `| replays of documents of more than ${LARGE_LENGTH / 1024} Ki characters together, at a time | 1 |`,
  `milliseconds to check | ${check.MAX_WAITING_INLINE}; ${check.MAX_WAITING} for each of two threads, ${check.MAX_WAITING_LARGE} for the third one, shared |`,
  `values in their lists and maps | ${grouped(MOST_ATTRIBUTES)} |`,
  `all its records repeat | ${LONGEST_OF_RESOURCE} characters |`,
  `works on for longer than that; that wait | ${inGroups(REDACTION_TRIALS)}; ${REDACTION_TRIALS.waiting}, shared |`,
  `drafts of rules that read their events; that wait | ${DRAFT_READS.atOnce}; ${DRAFT_READS.waiting}, shared |`,
  `an organization | ${MAX_HELD / MIB} Mi characters |`,
  `for the database, each counted with ${EVENT_BYTES / KIB} KiB more | ${MOST_WAITING_BYTES / MIB} MiB, shared |`,
  `| ${grouped(setting("MAX_CONNECTIONS"))}, idle for ${seconds(LIMITS.keepAliveTimeout)} s, shared |`,
  `on all connections, in bytes | ${MAX_WAITING_REQUESTS} (${MAX_WAITING_IN_CROWD} while more than ${MANY} new connections wait), ${MAX_WAITING_HEADERS.toLocaleString("en")}, ${MAX_WAITING_LENGTH / KIB} KiB; ${MAX_WAITING_SIZE / MIB} MiB, shared by address |`,
  `| ${shared.UNREAD_ANSWERS_BYTES / MIB} MiB, each stalled for ${seconds(STALLED_MS)} s, shared |`,
  `| ${shared.MADE_AT_ONCE}; ${shared.SENT_AT_ONCE}; ${shared.SEARCHED_AT_ONCE}, half of them for one organization, a quarter for one address, and all but two under one prefix; ${turns.SHORT_ANSWERS.atOnce} |`,
  `| ${turns.SLOW_BYTES / KIB} KiB a second | the answer is cut after ${turns.SLOW_SECONDS} s |`,
  `still reads; in a demo over files; removed files of the activity log | ${LONGEST_MS / HOUR_MS} hours; ${(KEPT_PART * DEMO_LIMITS.audit.bytes) / MIB} MiB; half of \`MAX_ACTIVITY_BYTES\` | it is cut |`,
  `| requests that wait for that turn | ${shared.LINE_LENGTH}, shared | 503 |`,
  `| ${grouped(policyText.DOCUMENT_LINES)}; ${grouped(policyText.DOCUMENT_CHARACTERS)} | cut`,
  `| ${LISTED_VERSIONS}; ${MOST_ROWS}; ${MOST_FLEET_ROWS} |`,
  `| ${grouped(DASHBOARD_CHARACTERS)}; ${grouped(events.MOST_IN_LIST)}; ${grouped(events.MOST_IN_EVENT)} characters |`,
  `| ${STREAM_LIMITS.perOrganization}, an hour each, ${MAX_WAITING_BYTES / KIB} KiB unread, shared |`,
  `| ${tickets.MAX_TICKETS} unused, ${seconds(tickets.LIFETIME_MS)} s each, shared |`,
  `failed requests (not with \`LOG_LEVEL=debug\`) | ${grouped(LINES_A_MINUTE)} each |`,
  `| activity entries of exports and export tickets, of a user or key | ${READINGS_AN_HOUR} an hour |`,
  `| buckets of a histogram | ${grouped(MAX_BUCKETS)} |`,
  `providers keeps, over files | ${grouped(KEPT_TEXTS)}, ${KEPT_CHARACTERS / KIB} Ki characters |`,
  `a count of facets adds up, over files | ${MOST_VALUES}, those with the most events |`,
  `a count of facets lists, over files | ${MOST_REASONS} |`,
  `| ${throttle.FAILURES_PER_EMAIL} for an email and address, ${throttle.FAILURES_PER_ADDRESS} for an address |`,
  `(scrypt, N=2^${Math.log2(password.DEFAULT_COST)}, r=${password.BLOCK_SIZE}, p=${password.PARALLELIZATION}) | 1 at a time; ${line.MAX_WAITING_PASSWORDS} wait in each of four lines |`,
  `| ${grouped(MAX_SETTINGS)} | 400 |`,
  `at least the last ${grouped(KNOWN_IDS)} events`,
  `| nothing, written within ${seconds(FLUSH_AFTER_MS)} seconds |`,
  `A token lasts \`JWT_EXPIRY_HOURS\`, ${setting("JWT_EXPIRY_HOURS")} hours by default`,
];

for (const sentence of said) {
  test(`docs/promises.md says what the code does: ${sentence}`, () => {
    assert.ok(promises.includes(sentence), `docs/promises.md: expected "${sentence}"`);
  });
}

test("promises per minute or hour match the periods in the code", () => {
  assert.equal(throttle.WINDOW_MS, MINUTE_MS);
  assert.equal(STREAM_LIMITS.lifetimeMs, HOUR_MS);
});

test("the least durable answers are those in the table of promises", () => {
  const durable = settingRows.find(({ variable }) => variable === "AUDIT_DURABILITY");
  assert.equal(durable?.fallback, "sync");
  assert.match(
    promises,
    /`AUDIT_DURABILITY=write` \| written \| kept \| what came in the last second/,
  );
});

test("the shapes of an organization's own rules are those with which the settings are refused", () => {
  const plain = promises.replaceAll("`", "");
  for (const [name, shape] of [
    ["literals", /comma-separated (texts of .*)/],
    ["names", /comma-separated endings of names, (.*)/],
  ] as const) {
    const setting = { key: `audit.redact.${name}`, value: "x" };
    assert.throws(
      () => checkOwnRules([setting]),
      ({ message }: Error) => plain.includes(shape.exec(message)?.[1] ?? message),
    );
  }
});
