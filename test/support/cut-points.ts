/**
 * Stops a program between every two of its file operations. Workers change stores, each its own
 * part. At every operation that changes the disk, and at every answer, copies are taken of the disk
 * after a power cut or a kill at that moment, and of each worker's progress. Each copy is then
 * opened. It must contain what was answered, and each unanswered change wholly or not at all.
 */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { ForgetfulFiles } from "./forgetful-files.ts";
import type { Choose } from "./forgetful-node.ts";

/** A change to the stores `S`. */
export interface Step<S> {
  readonly name: string;
  run(stores: S): Promise<unknown>;
  /**
   * Answered after the write, before the sync: a kill keeps it, a power cut may lose it; in one
   * case only until the next change is answered.
   */
  readonly isLazy?: true | "until the next";
}

/** Changes made one after another, and the view that only they affect. */
export interface Worker<S> {
  readonly name: string;
  readonly steps: readonly Step<S>[];
  see(stores: S): Promise<unknown>;
}

/** The program of a test: stores that can be opened on a disk, and the workers that use them. */
export interface Scenario<S> {
  open(files: ForgetfulFiles): Promise<S>;
  close(stores: S): Promise<void>;
  readonly workers: readonly Worker<S>[];
  /** Makes the files of a dead process look dead to this process, which lives. */
  bury(files: ForgetfulFiles): Promise<void>;
}

/** The number of a worker's steps that were begun, and of those that were answered. */
interface Progress {
  readonly begun: number;
  readonly answered: number;
}

/** A moment at which the program is stopped, and the way in which it is stopped. */
interface Moment {
  readonly what: string;
  readonly kind: string;
  readonly progress: readonly Progress[];
}

/** The content of the disk, after one moment or several. */
export interface Remains {
  readonly files: ForgetfulFiles;
  readonly moments: Moment[];
}

const KILL = "kill";
const PAGES_LOST = "power cut that leaves all lengths, but half of the pages";
const POWER_CUTS: readonly (readonly [kind: string, choose: Choose])[] = [
  ["power cut that leaves nothing", () => 0],
  ["power cut that leaves names only", (limit, of) => (of === "names" ? limit : 0)],
  [PAGES_LOST, (limit, of) => (of === "pages" ? limit >> 1 : limit)],
  [
    "power cut that leaves half of everything",
    (limit, of) => (of === "pages" ? limit : limit >> 1),
  ],
];

const CHANGES = new Set<string>(
  "makeDirectory rename link remove truncate write writeSync fdatasync fsync".split(" "),
);

/** The view of each worker before its first step and after each step, on a disk without faults. */
export type Sights = readonly (readonly unknown[])[];

/** Runs all steps of every worker, on a good disk. */
export async function sightsOf<S>(scenario: Scenario<S>): Promise<Sights> {
  const stores = await scenario.open(new ForgetfulFiles());
  const sights = scenario.workers.map(async ({ steps, see }) => {
    const seen = [await see(stores)];
    for (const step of steps) {
      await step.run(stores);
      seen.push(await see(stores));
    }
    return seen;
  });
  const all = await Promise.all(sights);
  await scenario.close(stores);
  return all;
}

/**
 * Runs the scenario, with a stop and a start in the middle, and takes copies throughout.
 *
 * @param files the disk, on which syncs may be forgotten
 * @param at when copies are taken: before every change of the disk too, or at answers only
 */
export async function recordCuts<S>(
  scenario: Scenario<S>,
  files: ForgetfulFiles,
  at: "every change" | "every answer",
): Promise<readonly Remains[]> {
  const { workers } = scenario;
  const found = new Map<string, Remains>();
  const progress = workers.map(() => ({ begun: 0, answered: 0 }));
  const keep = (what: string, kind: string, left: ForgetfulFiles): void => {
    const print = left.fingerprint();
    const moment = { what, kind, progress: progress.map((one) => ({ ...one })) };
    const same = found.get(print);
    if (same === undefined) found.set(print, { files: left, moments: [moment] });
    else same.moments.push(moment);
  };
  const take = (what: string): void => {
    for (const [kind, choose] of POWER_CUTS) keep(what, kind, files.afterPowerCut(choose));
    keep(what, KILL, files.afterKill());
  };
  files.before = (operation, path, flags) => {
    const changes = CHANGES.has(operation) || flags?.startsWith("w");
    if (changes && at === "every change") take(`before ${operation} of ${path}`);
  };
  for (const half of [0, 1]) {
    const stores = await scenario.open(files);
    await Promise.all(
      workers.map(async ({ name, steps }, index) => {
        const middle = Math.ceil(steps.length / 2);
        for (const step of half === 0 ? steps.slice(0, middle) : steps.slice(middle)) {
          const own = progress[index] as { begun: number; answered: number };
          own.begun++;
          await step.run(stores);
          own.answered++;
          take(`after ${name}: ${step.name}`);
        }
      }),
    );
    await scenario.close(stores);
  }
  take("at the end");
  files.before = () => {};
  return [...found.values()];
}

/**
 * Opens the disk after a cut, and checks that everything answered by then is there. This state must
 * not go back at the next power cut.
 *
 * @param goesOn whether every worker's next change is tried as well
 */
export async function checkRemains<S>(
  scenario: Scenario<S>,
  sights: Sights,
  { files, moments }: Remains,
  goesOn: boolean,
): Promise<void> {
  const { workers } = scenario;
  const where = `${moments[0]?.kind} ${moments[0]?.what}`;
  const reopen = async (disk: ForgetfulFiles): Promise<S> => {
    await scenario.bury(disk);
    return scenario.open(disk).catch((error: unknown) => {
      throw new Error(`It cannot be opened after a ${where}`, { cause: error });
    });
  };
  let stores = await reopen(files);
  const seen = await Promise.all(workers.map(({ see }) => see(stores)));
  for (const moment of moments) assertKept(workers, sights, seen, moment);

  const disk = files.powerCut(() => 0); // all clients have their answers
  stores = await reopen(disk);
  for (const [at, { name, see }] of workers.entries()) {
    assert.deepEqual(
      await see(stores),
      seen[at],
      `${name}: shown after a ${where}, and gone later`,
    );
  }
  if (goesOn) {
    const expected = await goOn(workers, sights, stores, seen);
    await scenario.close(stores);
    stores = await reopen(disk.powerCut(() => 0));
    for (const [at, { name, see }] of workers.entries()) {
      if (expected[at] === undefined) continue;
      assert.deepEqual(
        await see(stores),
        expected[at],
        `${name}: the next change after a ${where}`,
      );
    }
  }
  await scenario.close(stores);
}

/** Makes every worker's next change; returns the expected view, `undefined` if unknown. */
function goOn<S>(
  workers: readonly Worker<S>[],
  sights: Sights,
  stores: S,
  seen: readonly unknown[],
): Promise<readonly unknown[]> {
  return Promise.all(
    workers.map(async ({ steps }, at) => {
      const own = sights[at] as readonly unknown[];
      const stand = own.findLastIndex(same(seen[at]));
      await steps[stand]?.run(stores);
      return stand === -1 ? undefined : own[Math.min(stand + 1, steps.length)];
    }),
  );
}

function assertKept<S>(
  workers: readonly Worker<S>[],
  sights: Sights,
  seen: readonly unknown[],
  { what, kind, progress }: Moment,
): void {
  for (const [at, { name, steps }] of workers.entries()) {
    const { begun, answered } = progress[at] as Progress;
    const isUnsynced = begun > answered || steps[answered - 1]?.isLazy;
    if (kind === PAGES_LOST && isUnsynced) continue; // a batch may have lost a page
    const least = kind === KILL ? answered : surelySynced(steps, answered);
    const expected = (sights[at] as readonly unknown[]).slice(least, begun + 1);
    if (expected.some(same(seen[at]))) continue;
    const message = `${name} after a ${kind} ${what}: ${answered} of ${begun} changes answered`;
    assert.deepEqual(seen[at], expected[0], message);
  }
}

/** The number of answered changes that are certainly synced. */
function surelySynced<S>(steps: readonly Step<S>[], answered: number): number {
  let count = answered;
  while (steps[count - 1]?.isLazy === true) count--;
  return steps[count - 1]?.isLazy === "until the next" ? count - 1 : count;
}

function same(value: unknown): (other: unknown) => boolean {
  return (other) => isDeepStrictEqual(other, value);
}
