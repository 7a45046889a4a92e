/** Reports with labels are refused once the labels of an organization reach their bound. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { labelLength, type Labels } from "../../../src/core/labels.ts";
import {
  createQuotas,
  MOST_LABEL_LENGTH,
  PUBLIC_MOST_LABEL_LENGTH,
  type QuotaLimits,
} from "../../../src/core/quota.ts";
import { FREE_LENGTH, growth, LabelRoom } from "../../../src/storage/files/label-room.ts";
import { start, type App } from "../../support/start.ts";

const PAIRS = 32;
/** Labels of the greatest size: each pair has 64 characters twice, and counts 32 more. */
const LARGEST: Labels = Object.fromEntries(
  Array.from({ length: PAIRS }, (_, i) => [`k${i}`.padEnd(64, "x"), "v".repeat(64)]),
);
const SIZE = PAIRS * (64 + 64 + 32);
/** Few enough that a busy machine reads each request in time. */
const AT_ONCE = 10;

test("labels fill the room of an organization to its edge, and removals make room", () => {
  const room = new LabelRoom();
  const quota = createQuotas({} as QuotaLimits, () => false).labels("v1");
  assert.equal(labelLength(LARGEST), SIZE);
  assert.equal(room.take(MOST_LABEL_LENGTH - SIZE, quota), undefined);
  assert.equal(room.take(SIZE, quota), undefined);
  assert.equal(room.take(1, quota)?.status, 429);
  assert.equal(room.take(0, quota), undefined); // the same labels again
  room.release(SIZE); // refused by the disk
  room.replace(undefined, LARGEST);
  assert.equal(room.take(1, quota)?.status, 429);
  room.replace(LARGEST, undefined);
  assert.equal(room.take(SIZE, quota), undefined);
});

test("only labels beyond the present ones of a runtime take room", () => {
  const grown = (before: Labels | undefined, labels: Labels | undefined) =>
    growth({ labels: before }, { name: "r", labels });
  assert.equal(grown(undefined, LARGEST), SIZE);
  assert.equal(grown(LARGEST, LARGEST), 0);
  assert.equal(grown(LARGEST, {}), 0);
  assert.equal(grown(LARGEST, undefined), 0);
  assert.equal(grown({ a: "b" }, { a: "bcd", e: "f" }), 2 + 34);
});

test("a name or text of more than 64 characters takes room too", () => {
  const [short, long] = ["s".repeat(FREE_LENGTH), "l".repeat(FREE_LENGTH + 1)];
  assert.equal(growth(undefined, { name: short, os: short, version: short }), 0);
  assert.equal(growth(undefined, { name: long, os: long }), 2 * long.length);
  assert.equal(growth({ os: long }, { name: long, os: long, hostname: long }), long.length);
  assert.equal(growth({ os: long }, { name: long, os: `${long}er`, version: short }), 2);
  assert.equal(growth({ os: `${long}er` }, { name: "r", os: long }), 0);
});

test("a fleet takes no more long texts than its bound, in memory and after a restart", async (t) => {
  let isRequired = true;
  const app = await start(t, { requireAuth: () => isRequired });
  const text = "t".repeat(1_024);
  const texts = { hostname: text, os: text, version: text, policy_version: text };
  const path = "/api/public/fleet/heartbeat";
  const report = async (fields: object) => (await app.post(path, fields)).status;
  const most = PUBLIC_MOST_LABEL_LENGTH / (4 * text.length);
  await fill(app, path, most, texts);
  assert.equal(await report({ name: "one-more", os: text }), 429);
  assert.equal(await report({ name: "n".repeat(65) }), 429);
  assert.equal(await report({ name: "one-more", os: "linux" }), 200);
  assert.equal(await report({ name: "r0", ...texts }), 200);
  await app.restart();
  assert.equal(await report({ name: "one-more", os: text }), 429);
  assert.equal(await report({ name: "r0", os: "linux" }), 200);
  assert.equal(await report({ name: "one-more", os: text }), 200);
  assert.equal(await report({ name: "n".repeat(65) }), 429);
  isRequired = false;
  assert.equal((await app.delete("/api/v1/fleet/r1")).status, 200);
  isRequired = true;
  assert.equal(await report({ name: "n".repeat(65) }), 200);
});

/** Reports a number of runtimes. */
async function fill(app: App, path: string, count: number, fields: object): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const names = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => `r${from + i}`);
    const answers = await Promise.all(names.map((name) => app.post(path, { name, ...fields })));
    for (const { status, body } of answers) assert.equal(status, 200, JSON.stringify(body));
  }
}

test("a fleet takes no more labels than its bound, in memory and after a restart", async (t) => {
  const app = await start(t);
  const most = Math.floor(MOST_LABEL_LENGTH / SIZE);
  const report = (name: string, labels?: Labels) =>
    app.post("/api/public/fleet/heartbeat", { name, ...(labels && { labels }) });
  await fill(app, "/api/public/fleet/heartbeat", most, { labels: LARGEST });
  const refused = await report("one-more", LARGEST);
  assert.equal(refused.status, 429);
  assert.match(refused.body.error, /^labels: the runtimes of the organization have 16777216 /);
  assert.equal((await app.get("/api/public/fleet?name=one-more")).body.runtimes.length, 0);
  assert.equal((await report("one-more")).status, 200);
  assert.equal((await report("r0", LARGEST)).status, 200);
  await app.restart();
  assert.equal((await report("one-more", LARGEST)).status, 429);
  assert.equal((await report("r0", {})).status, 200);
  assert.equal((await report("one-more", LARGEST)).status, 200);
});

test("while credentials are required, labels of the public surface leave room for others", async (t) => {
  let isRequired = true;
  const app = await start(t, { requireAuth: () => isRequired });
  const path = "/api/public/fleet/heartbeat";
  const most = Math.floor(PUBLIC_MOST_LABEL_LENGTH / SIZE);
  await fill(app, path, most, { labels: LARGEST });
  const refused = await app.post(path, { name: "more", labels: LARGEST });
  assert.equal(refused.status, 429);
  assert.match(refused.body.error, /^labels: the runtimes of the organization have 4194304 /);
  assert.equal((await app.post(path, { name: "more" })).status, 200);
  isRequired = false;
  assert.equal(
    (await app.post("/api/v1/fleet/heartbeat", { name: "own", labels: LARGEST })).status,
    200,
  );
  assert.equal((await app.post(path, { name: "more", labels: LARGEST })).status, 200);
});
