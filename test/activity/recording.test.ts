import assert from "node:assert/strict";
import { test } from "node:test";
import { entryLine } from "../../src/activity/entry-line.ts";
import { READINGS_AN_HOUR } from "../../src/activity/readings.ts";
import { recordingRows } from "../../src/activity/recording.ts";
import type { ActivityEntry } from "../../src/activity/schema.ts";
import { RecordedChanges } from "../../src/activity/unit-of-work.ts";
import { HOUR_MS } from "../../src/core/clock.ts";
import { Conflict, Unrecorded } from "../../src/core/errors.ts";
import type { Schema } from "../../src/core/schema.ts";
import { later, reply, stream } from "../../src/http/reply.ts";
import { route, type Change, type Route } from "../../src/http/route.ts";
import { T0 } from "./store-suite.ts";

const thing = {
  type: "object",
  properties: { name: { type: "string" } },
} as const satisfies Schema;

type Input = Parameters<Route<unknown>["handle"]>[0];

const input = {
  organization: "acme",
  actor: { kind: "key", id: "k1", name: "runner" },
  surface: "v1",
  isHead: false,
  address: "",
  requestId: "r1",
  note: () => {},
} as unknown as Input;

const change: Change<unknown, { readonly name?: string | undefined }> = {
  action: "thing.make",
  target: (_, answer) => ({ type: "thing", name: answer?.name }),
  after: (_, { name }) => ({ name }),
  refusals: { 409: "thing.refused" },
};

/** A recording row around a handler; and the entries, or the error that prevents writing them. */
function recorded(
  handle: (given: Input) => unknown,
  failure?: Error | (() => Error | undefined),
  made: Change<never, never> = change,
) {
  const written: (readonly [organization: string, entry: ActivityEntry])[] = [];
  const base = { method: "POST", path: "/things", surfaces: ["v1"] } as const;
  const who = { access: "user", role: "operator" } as const;
  const more = { summary: "Make a thing", tags: ["things"], replies: { 201: thing } } as const;
  const row = route({
    ...base,
    ...who,
    ...more,
    change: made as typeof change,
    handle: (given) => handle(given as Input) as never,
  });
  const activity = {
    async append(organization: string, entry: ActivityEntry) {
      const error = typeof failure === "function" ? failure() : failure;
      if (error) throw error;
      written.push([organization, entry]);
    },
  };
  const { commit } = new RecordedChanges({ activity });
  const [wrapped] = recordingRows([row], { commit, activity, now: () => T0, ids: () => "e1" });
  return { run: async (given = input) => wrapped?.handle(given, undefined), written };
}

const done = {
  id: "e1",
  organization_id: "acme",
  timestamp: "2026-11-20T20:30:00.000Z",
  actor: { kind: "key", id: "k1", name: "runner" },
  request_id: "r1",
  surface: "v1",
  action: "thing.make",
  target: { type: "thing", name: "a" },
  after: { name: "a" },
  outcome: "done",
};

/** An entry as it is written: `undefined` fields are absent. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("an entry names actor, action and target, and the answer is passed on unchanged", async () => {
  const answer = reply(201, { name: "a" });
  const { run, written } = recorded(() => answer);
  assert.equal(await run(), answer);
  assert.deepEqual(asJson(written), [["acme", done]]);
});

test("an answer by call-back is awaited before anything is written", async () => {
  const { run, written } = recorded(() => later((settle) => settle(null, { name: "a" })));
  assert.deepEqual(await run(), { name: "a" });
  assert.deepEqual(asJson(written), [["acme", done]]);
});

test("the handler's note is in the entry, and sets its organization and actor", async () => {
  const caller = { organization: "other", actor: undefined };
  const { run, written } = recorded(({ note }) => {
    note({ before: { name: "b" } });
    note({ caller, after: { name: "c" } });
    return { name: "a" };
  });
  await run();
  const noted = { before: { name: "b" }, after: { name: "c" }, actor: { kind: "anonymous" } };
  assert.deepEqual(asJson(written), [["other", { ...done, ...noted, organization_id: "other" }]]);
});

test("a refusal has an entry only if the row names its status", async () => {
  const refuse = (): never => {
    throw new Conflict("Taken");
  };
  const { run, written } = recorded(refuse);
  await assert.rejects(run(), Conflict);
  const { after: _, ...refused } = { ...done, action: "thing.refused", outcome: "refused" };
  assert.deepEqual(asJson(written), [["acme", { ...refused, target: { type: "thing" } }]]);
});

test("a failure with an uncertain effect is recorded, and the caller gets that failure", async () => {
  const fail = (): never => {
    throw new Error("I/O error");
  };
  const { run, written } = recorded(fail);
  await assert.rejects(run(), /^Error: I\/O error/);
  const { after: _, ...failed } = { ...done, outcome: "failed" };
  assert.deepEqual(asJson(written), [["acme", { ...failed, target: { type: "thing" } }]]);
  await assert.rejects(recorded(fail, new Error("Full")).run(), /^Error: I\/O error/);
});

test("if the entry cannot be written, the answer is an error that says whether the change was made", async () => {
  const full = new Error("Full");
  const errorOf = async (handle: (given: Input) => unknown): Promise<Unrecorded> => {
    const error: unknown = await recorded(handle, full)
      .run()
      .catch((caught: unknown) => caught);
    assert.ok(error instanceof Unrecorded);
    assert.equal(error.status, 500);
    assert.equal(error.cause, full);
    return error;
  };
  assert.match(
    (await errorOf(() => ({ name: "a" }))).message,
    /"thing\.make" .*, but it was done$/,
  );
  const unsent = stream("text/csv", async () => assert.fail("It was sent"));
  const download = ({ note }: Input) => {
    note({ after: { format: "csv" } });
    return unsent;
  };
  assert.match((await errorOf(download)).message, /, so it was not done$/);
});

test("an export whose entry cannot be written does not count, so none goes without an entry meanwhile", async () => {
  let failure: Error | undefined = new Error("Full");
  const download = stream("text/csv", async () => {});
  const reading = { ...change, isReading: true, after: () => ({ q: "git" }) } as const;
  const { run, written } = recorded(
    () => download,
    () => failure,
    reading,
  );
  for (let i = 0; i < 2 * READINGS_AN_HOUR; i++) await assert.rejects(run(), Unrecorded);
  failure = undefined;
  for (let i = 1; i < READINGS_AN_HOUR; i++) await run();
  failure = new Error("Full");
  await assert.rejects(run(), Unrecorded);
  failure = undefined;
  for (let i = 0; i < 5; i++) assert.equal(await run(), download);
  assert.equal(written.length, READINGS_AN_HOUR);
  const until = new Date(T0 + HOUR_MS).toISOString();
  assert.deepEqual(written.at(-1)?.[1].after, { q: "git", unrecorded_until: until });
});

test("the end of the entries of exports is told even where the filters of the last one are cut", async () => {
  const long = Array.from({ length: 30 }, (_, i) => [`filter_${i}`, "長".repeat(256)]);
  const reading = { ...change, isReading: true, after: () => Object.fromEntries(long) } as const;
  const { run, written } = recorded(() => ({}), undefined, reading);
  for (let i = 0; i < READINGS_AN_HOUR; i++) await run();
  const [, last] = written.at(-1) ?? [];
  const { after } = JSON.parse(entryLine(last as ActivityEntry)) as ActivityEntry;
  assert.equal(after?.["unrecorded_until"], new Date(T0 + HOUR_MS).toISOString());
});

test("HEAD does nothing and has no entry", async () => {
  const { run, written } = recorded(() => ({ name: "a" }));
  assert.deepEqual(await run({ ...input, isHead: true }), { name: "a" });
  assert.deepEqual(written, []);
});

test("a row learns that its change has ended, made or not", async () => {
  const order: string[] = [];
  const activity = {
    append: async (): Promise<void> => void order.push("entry"),
  };
  const commit: RecordedChanges<{ activity: typeof activity }>["commit"] = async (made, asker) => {
    const result = await new RecordedChanges({ activity }).commit(made, asker);
    order.push("committed");
    return result;
  };
  const recorder = { commit, activity, now: () => T0, ids: () => "e1" };
  const run = async (handle: () => unknown): Promise<unknown> => {
    const ended = (): void => void order.push("ended");
    const row = { change, handle, ended } as unknown as Route<unknown>;
    return recordingRows([row], recorder)[0]?.handle(input, undefined);
  };
  await run(() => ({ name: "a" }));
  assert.deepEqual(order.splice(0), ["entry", "committed", "ended"]);
  const failure = new Error("I/O error");
  await assert.rejects(
    run(() => Promise.reject(failure)),
    failure,
  );
  assert.deepEqual(order, ["ended", "entry"]);
});

test("a row without a change is not wrapped", () => {
  const row = { change: undefined } as unknown as Route<unknown>;
  const activity = { append: async () => {} };
  const { commit } = new RecordedChanges({ activity });
  const recorder = { commit, activity, now: () => T0, ids: () => "e1" };
  assert.equal(recordingRows([row], recorder)[0], row);
});
