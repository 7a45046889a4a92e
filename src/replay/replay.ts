/**
 * Replays a policy: reads the events that match, as an export does, and hands their rows to a thread that decides
 * them. Nothing is stored.
 */
import { filterOf, type GivenFilter } from "../audit/filter.ts";
import type { AuditFilter, AuditStore } from "../audit/store.ts";
import { regularCheck, type Awaitable } from "../core/caller.ts";
import { DAY_MS, type Clock } from "../core/clock.ts";
import { BadInput } from "../core/errors.ts";
import { FIRST_MS, formatTimestamp } from "../core/time.ts";
import { type Asker, Turns } from "../core/scheduling/turns.ts";
import { summaryOf } from "../policies/check.ts";
import { SCHEMA_NAME } from "../policies/document-keys.ts";
import type { PolicyStore } from "../policies/store.ts";
import { storedPolicy } from "../policies/stored-policy.ts";
import { JudgeThread } from "./judge-thread.ts";
import type { Judged } from "./judge-worker.ts";
import { COMPARED } from "./report.ts";
import { EXAMPLES, RECORDED, type PolicyReplay } from "./schema.ts";

/**
 * Replays that run at a time, that run for one user, and that wait, each with its document. Each has a thread, so that
 * two of them leave the event loop its share of two processors.
 */
export const REPLAYS = { atOnce: 2, atOnceOfOne: 1, waiting: 16 };

/** The characters of the documents, together, beyond which a replay is large. */
export const LARGE_LENGTH = 128 << 10;
/**
 * Large replays run one at a time in the process: the documents of each take up to 110 MiB. Those that wait have a turn of
 * `REPLAYS` already.
 */
const large = new Turns({ atOnce: 1, atOnceOfOne: 1, waiting: Infinity });

/** The most steps of one replay: some minutes of a thread. */
export const MAX_STEPS = 40_000_000_000;
/** The pieces of rows that are on their way to the thread. */
const PIECES_AHEAD = 16;
/** The default range of time. */
const WEEK_MS = 7 * DAY_MS;
const NO_LONGER_ALLOWED = "The credentials of a running replay are no longer accepted";

/** The services that a replay uses. */
export interface ReplayNeeds {
  readonly audit: Pick<AuditStore, "export">;
  readonly policies: Pick<PolicyStore, "get" | "active">;
  readonly replays: Turns;
  readonly now: Clock;
}

/** The client that waits for a replay. */
export interface ReplayClient extends Asker {
  readonly gone: AbortSignal;
  /** Whether its credentials are still accepted. */
  readonly isAllowed: () => Awaitable<boolean>;
}

/** Takes the number of events so far, and that of all. */
export type OnProgress = (evaluated: number, total: number) => void;

/** A replay that has its turn, and whose documents can decide. */
export interface Replay {
  /** Runs it, once; the turn ends with it. */
  run(onProgress?: OnProgress): Promise<Judged>;
  /** Ends it early. */
  close(): void;
}

/** A document of a replay, with the words for it in messages. */
interface Chosen {
  readonly yaml: string;
  readonly called: string;
}

/**
 * Begins a replay when its turn comes.
 *
 * @throws BadInput if a document cannot decide, or if both a document and a version are named
 * @throws NotFound if a version does not exist
 * @throws Unavailable when too many replays wait
 */
export async function beginReplay(
  needs: ReplayNeeds,
  client: ReplayClient,
  organization: string,
  wanted: PolicyReplay,
): Promise<Replay> {
  const { audit, policies, replays, now } = needs;
  if (wanted.yaml !== undefined && wanted.version !== undefined) {
    throw new BadInput("Give yaml or version, not both");
  }
  const range = rangeOf(wanted, now());
  const { party, gone } = client;
  const check = regularCheck(client.isAllowed, now, NO_LONGER_ALLOWED);
  const end = await replays.wait(party, gone);
  const ends = [end];
  const close = (): void => {
    gone.removeEventListener("abort", close);
    for (const one of ends.splice(0).reverse()) one();
  };
  gone.addEventListener("abort", close); // also while the thread decides one command for long
  try {
    await client.recheck?.();
    const candidate = await candidateOf(policies, organization, wanted);
    const base = await baseOf(policies, organization, wanted.base);
    const isLarge = candidate.yaml.length + (base?.yaml.length ?? 0) > LARGE_LENGTH;
    if (isLarge) ends.push(await large.wait(party, gone));
    gone.throwIfAborted(); // the turn has ended, and with it the right to a thread
    const thread = JudgeThread.take(isLarge);
    ends.push(() => thread.close());
    const unfit = await thread.begin({
      candidate: candidate.yaml,
      base: base?.yaml,
      compare: wanted.compare ?? COMPARED[0],
      examples: wanted.examples ?? EXAMPLES.default,
      maxSteps: MAX_STEPS,
      facts: { from: formatTimestamp(range.from), to: formatTimestamp(range.to) },
    });
    if (unfit) {
      const { called } = unfit.document === "base" && base ? base : candidate;
      throw new BadInput(
        unfit.problems.length > 0
          ? summaryOf(unfit.problems, called)
          : `${called}: expected a document that declares "schema: ${SCHEMA_NAME}"; others cannot be replayed`,
      );
    }
    const { total, rows } = await audit.export(organization, range, { party, gone });
    ends.push(() => rows.close());
    const run = async (onProgress: OnProgress = () => {}): Promise<Judged> => {
      try {
        return await judge(thread, rows, { gone, check }, (count) => onProgress(count, total));
      } catch (error) {
        gone.throwIfAborted(); // the end of the thread is then no failure
        throw error;
      } finally {
        close();
      }
    };
    return { run, close };
  } catch (error) {
    close();
    gone.throwIfAborted();
    throw error;
  }
}

/** Hands all rows to the thread, a few pieces ahead of it. */
async function judge(
  thread: JudgeThread,
  rows: AsyncIterable<Buffer>,
  { gone, check }: Pick<ReplayClient, "gone"> & { readonly check: () => Promise<void> },
  onEvents: (count: number) => void,
): Promise<Judged> {
  const ahead: Promise<number>[] = [];
  const settle = async (most: number): Promise<void> => {
    while (ahead.length > most) {
      onEvents((await ahead.shift()) as number);
      await check();
    }
  };
  for await (const piece of rows) {
    gone.throwIfAborted();
    await check();
    const taken = thread.take(piece);
    taken.catch(() => undefined); // awaited below, unless another piece fails before it
    ahead.push(taken);
    await settle(PIECES_AHEAD);
  }
  await settle(0);
  const judged = await thread.end();
  await check();
  return judged;
}

/** The filters, with a range of time: by default the last 7 days. */
function rangeOf(
  given: GivenFilter,
  now: number,
): AuditFilter & { readonly from: number; readonly to: number } {
  const filter = filterOf(given);
  const { to = now + 1 } = filter; // includes events of this very millisecond
  const { from = Math.max(to - WEEK_MS, FIRST_MS) } = filter;
  return { ...filter, from, to };
}

async function candidateOf(
  policies: ReplayNeeds["policies"],
  organization: string,
  { yaml, version }: Pick<PolicyReplay, "yaml" | "version">,
): Promise<Chosen> {
  if (yaml !== undefined) return { yaml, called: "yaml" };
  const policy = await storedPolicy(policies, organization, version);
  const kind = version === undefined ? "The active policy" : "Policy";
  return { yaml: policy.yaml, called: `${kind} version "${policy.version}"` };
}

/** The document to compare with; `undefined` for the recorded decisions. */
async function baseOf(
  policies: ReplayNeeds["policies"],
  organization: string,
  base: string | undefined,
): Promise<Chosen | undefined> {
  if (base === RECORDED) return undefined;
  const policy = await (base === undefined
    ? policies.active(organization)
    : storedPolicy(policies, organization, base));
  const kind = base === undefined ? "the active policy" : "policy";
  return policy && { yaml: policy.yaml, called: `base: ${kind} version "${policy.version}"` };
}
