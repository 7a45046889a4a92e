import type { Party } from "../core/scheduling/fair-share.ts";
import { Yielder } from "../core/scheduling/yielder.ts";
import { isSelected } from "../core/assigned-version.ts";
import type { OpenRollout } from "../core/assignment.ts";
import { formatTimestamp } from "../core/time.ts";
import { jsonPieces, type Reply } from "../http/reply.ts";
import type { FleetList, RuntimeInstance } from "./schema.ts";
import { statusAfter } from "./status.ts";
import type { StoredRuntime } from "./store.ts";

/** Longer lists are written and sent in slices, so that other requests run in between. */
export const LONG_LIST = 500;

const SLICE = 250; // at most about half a millisecond of work

type Slices = AsyncIterable<readonly StoredRuntime[]>;

/** The context of a list: its moment (milliseconds), and the open rollout. */
export interface ListContext {
  readonly now: number;
  readonly rollout?: OpenRollout | undefined;
}

/** The public form of a runtime at a moment. */
export function instanceAt(runtime: StoredRuntime, { now, rollout }: ListContext): RuntimeInstance {
  return {
    name: runtime.name,
    hostname: runtime.hostname,
    os: runtime.os,
    version: runtime.version,
    policy_version: runtime.policy_version,
    labels: runtime.labels,
    assigned_version: rollout && isSelected(rollout, runtime) ? rollout.version : undefined,
    last_seen: formatTimestamp(runtime.last_seen),
    status: statusAfter(now - runtime.last_seen),
  };
}

/** Runtimes that can be read in parts: an array, or a list that a store maintains. */
export interface Sliceable {
  readonly length: number;
  slice(from: number, to: number): readonly StoredRuntime[];
}

/**
 * Cuts runtimes into slices; other requests are served between two of them.
 *
 * @param party the reader, as for `Yielder`
 */
export async function* inSlices(runtimes: Sliceable, party?: Party): Slices {
  const yielder = new Yielder(undefined, party);
  for (let from = 0; from < runtimes.length; from += SLICE) {
    await yielder.step();
    const slice = runtimes.slice(from, from + SLICE);
    if (slice.length > 0) yield slice;
  }
}

/**
 * Answers with runtimes: as a value if there are few, otherwise as a stream.
 *
 * @param total the number of matching runtimes, sent beside them
 */
export async function listing(
  slices: Slices,
  context: ListContext,
  total?: number,
): Promise<Reply | FleetList> {
  const rest = slices[Symbol.asyncIterator]();
  const first: StoredRuntime[] = [];
  while (first.length <= LONG_LIST) {
    const { done, value } = await rest.next();
    if (done) return { runtimes: first.map((row) => instanceAt(row, context)), total };
    first.push(...value);
  }
  const end = total === undefined ? "]}" : `],"total":${total}}`;
  const all = joined(inSlices(first), { [Symbol.asyncIterator]: () => rest });
  const close = (): void => void rest.return?.().catch(() => {}); // `all` closes it only once it has come to it
  return jsonPieces(() => textsOf(all, context, end), [], close);
}

async function* joined(first: Slices, rest: Slices): Slices {
  yield* first;
  yield* rest;
}

async function* textsOf(slices: Slices, context: ListContext, end: string): AsyncIterable<string> {
  let lead = '{"runtimes":[';
  for await (const slice of slices) {
    yield lead + slice.map((row) => JSON.stringify(instanceAt(row, context))).join(",");
    lead = ",";
  }
  yield end;
}
