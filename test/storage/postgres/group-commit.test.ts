/** The order in which waiting events are sent to the database. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { AuditEvent } from "../../../src/audit/schema.ts";
import { GroupCommit } from "../../../src/storage/postgres/audit/group-commit.ts";
import type { Partitions } from "../../../src/storage/postgres/audit/partitions.ts";
import type { Database } from "../../../src/storage/postgres/database.ts";

const BATCH_EVENTS = 1_000;
const TIME = "2026-11-20T20:30:00.000Z";

function eventOf(organization: string, id: string): AuditEvent {
  const event = { id, organization_id: organization, command: "ls", timestamp: TIME };
  return { ...event, ingested_at: TIME, ai: false, status: "COMPLETED" } as unknown as AuditEvent;
}

/** A commit over a database that answers when `answer` is called. Each call answers the oldest group. */
function open(): {
  readonly commit: GroupCommit;
  /** The number of events of each organization in the groups that were sent. */
  readonly groups: readonly Readonly<Record<string, number>>[];
  answer(): Promise<void>;
} {
  const groups: Record<string, number>[] = [];
  const unanswered: (() => void)[] = [];
  let arrived = (): void => {};
  const database = {
    query(_: string, [, , organizations]: readonly unknown[]) {
      const names = String(organizations).match(/[a-z]+/g) ?? [];
      const counts: Record<string, number> = {};
      for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
      groups.push(counts);
      arrived();
      return new Promise((resolve) => unanswered.push(() => resolve([])));
    },
  } as unknown as Database;
  const partitions = { ensure: () => Promise.resolve() } as unknown as Partitions;
  const commit = new GroupCommit({ database, partitions, isRelaxed: false, grown: () => {} });
  return {
    commit,
    groups,
    async answer() {
      while (unanswered.length === 0) await new Promise<void>((resolve) => (arrived = resolve));
      unanswered.shift()?.();
    },
  };
}

function append(
  commit: GroupCommit,
  organization: string,
  count: number,
  surface = "v1",
): Promise<void> {
  const events = Array.from({ length: count }, (_, n) => eventOf(organization, `${n}`));
  return new Promise((resolve, reject) => {
    const stored = (error: unknown): void => (error === null ? resolve() : reject(error as Error));
    commit.append([surface, organization], events, stored, new Set());
  });
}

test("events do not wait for all that another organization has sent", async () => {
  const { commit, groups, answer } = open();
  const noisy = Array.from({ length: 12 }, () => append(commit, "noisy", BATCH_EVENTS));
  // Events that are prepared wait in line; on a busy machine even one is not prepared at once.
  const waiting = async (count: number): Promise<void> => {
    while (commit.figures.pending < count) await setImmediate();
  };
  await waiting(12 * BATCH_EVENTS);
  const quiet = append(commit, "quiet", 1);
  const other = append(commit, "other", 1);
  await waiting(12 * BATCH_EVENTS + 2);
  let isAnswered = false;
  const all = Promise.all([...noisy, quiet, other]).then(() => (isAnswered = true));
  while (!isAnswered) await Promise.race([answer(), all]);
  const first = (name: string) => groups.findIndex((group) => group[name] !== undefined);
  assert.ok(first("quiet") <= 2 && first("other") <= 2, JSON.stringify(groups));
  const total = groups.reduce((sum, { noisy: count = 0 }) => sum + count, 0);
  assert.equal(total, 12 * BATCH_EVENTS);
});

test("events do not wait for the transactions of another organization", async () => {
  const { commit, groups, answer } = open();
  const sent = Array.from({ length: 12 }, () => append(commit, "noisy", BATCH_EVENTS));
  const groupsOf = async (count: number): Promise<typeof groups> => {
    for (const end = Date.now() + 5_000; groups.length < count && Date.now() < end;)
      await setImmediate();
    return groups.slice(count - 1);
  };
  await groupsOf(2);
  sent.push(append(commit, "quiet", 1));
  assert.deepEqual(await groupsOf(3), [{ quiet: 1 }]);
  // While that one is under way, others wait, and go on before those that would wait for a lock.
  sent.push(append(commit, "other", 1), append(commit, "third", 1));
  while (commit.figures.pending < 12 * BATCH_EVENTS + 3) await setImmediate();
  await answer();
  const [next] = await groupsOf(4);
  assert.deepEqual([next?.["other"], next?.["third"], next?.["noisy"]], [1, 1, undefined]);
  let isAnswered = false;
  const all = Promise.all(sent).then(() => (isAnswered = true));
  while (!isAnswered) await Promise.race([answer(), all]);
});

test("events do not wait for the transactions of two other organizations", async () => {
  const { commit, groups, answer } = open();
  const sent = Array.from({ length: 7 }, () => append(commit, "noisy", BATCH_EVENTS));
  while (groups.length < 2) await setImmediate();
  sent.push(...Array.from({ length: 2 }, () => append(commit, "loud", BATCH_EVENTS)));
  while (commit.figures.pending < 9 * BATCH_EVENTS) await setImmediate();
  for (let turn = 0; turn < 100; turn++) await setImmediate();
  assert.equal(groups.length, 2, "batches took the transaction of small groups");
  sent.push(append(commit, "quiet", 1));
  while (groups.length < 3) await setImmediate();
  assert.deepEqual(groups[2], { quiet: 1 });
  let isAnswered = false;
  const all = Promise.all(sent).then(() => (isAnswered = true));
  while (!isAnswered) await Promise.race([answer(), all]);
  const total = groups.reduce((sum, { loud = 0 }) => sum + loud, 0);
  assert.equal(total, 2 * BATCH_EVENTS);
});

test("an organization whose events fill the room loses some of them to others, not those of others", async () => {
  const { commit, answer } = open();
  const refused: unknown[] = [];
  const sendNoisy = (): Promise<unknown> =>
    append(commit, "noisy", BATCH_EVENTS).catch((error: unknown) => refused.push(error));
  const noisy = Array.from({ length: 40 }, sendNoisy);
  while (commit.figures.pending > 20 * BATCH_EVENTS) await setImmediate();
  const quiet = [append(commit, "quiet", 1), append(commit, "quiet", BATCH_EVENTS)];
  const refusedBefore = refused.length;
  noisy.push(sendNoisy());
  await setImmediate();
  assert.ok(refused.length > refusedBefore, "the organization with the most is not refused");
  let isAnswered = false;
  const all = Promise.all([...noisy, ...quiet]).then(() => (isAnswered = true));
  while (!isAnswered) await Promise.race([answer(), all]);
  for (const error of refused) assert.match(String(error), /Too many events wait for the database/);
  const { pending, pendingBytes, failed } = commit.figures;
  assert.deepEqual([pending, pendingBytes, failed], [0, 0, refused.length * BATCH_EVENTS]);
});

test("anonymous events take no room from those of the same organization's keys", async () => {
  const { commit, answer } = open();
  let refused = 0;
  const noisy = Array.from({ length: 40 }, () =>
    append(commit, "default", BATCH_EVENTS, "public").catch(() => refused++),
  );
  while (commit.figures.pending > 20 * BATCH_EVENTS) await setImmediate();
  const keyed = [append(commit, "default", 1), append(commit, "default", BATCH_EVENTS)];
  let isAnswered = false;
  const all = Promise.all([...noisy, ...keyed]).then(() => (isAnswered = true));
  while (!isAnswered) await Promise.race([answer(), all]);
  assert.ok(refused > 0 && refused < 40, `${refused}`);
});
