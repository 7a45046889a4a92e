import { once } from "node:events";
import type { Writable } from "node:stream";
import { ownTurn } from "../core/yielder.ts";
import { formatTimestamp } from "../core/time.ts";
import { stream, type Reply } from "../http/reply.ts";
import type { FleetList, RuntimeInstance } from "./schema.ts";
import { statusAfter } from "./status.ts";
import type { Fits, FleetRows, StoredRuntime } from "./store.ts";

/** A longer list is made and sent slice by slice, so that other requests go on meanwhile. */
export const LONG_LIST = 500;

const SLICE = 250; // about half a millisecond of work

/** What of a list is sent beside the runtimes. */
export interface ListingOptions {
  /** Leaves out the others. */
  readonly fits?: Fits | undefined;
  /** How many there are besides those listed, and with them. */
  readonly total?: number | undefined;
}

/** Shows a runtime as it stands at a moment (milliseconds). */
export function instanceAt(runtime: StoredRuntime, now: number): RuntimeInstance {
  return {
    name: runtime.name,
    hostname: runtime.hostname,
    os: runtime.os,
    version: runtime.version,
    policy_version: runtime.policy_version,
    last_seen: formatTimestamp(runtime.last_seen),
    status: statusAfter(now - runtime.last_seen),
  };
}

/** Rows that were found already, to be listed. */
export function rowsOf(runtimes: readonly StoredRuntime[]): FleetRows {
  return { total: runtimes.length, slice: (from, to) => runtimes.slice(from, to) };
}

/** Answers with runtimes: at once when there are few, else as a stream that yields between slices. */
export function listing(
  rows: FleetRows,
  now: number,
  { fits, total }: ListingOptions = {},
): Reply | FleetList {
  if (rows.total <= LONG_LIST) {
    return { runtimes: rows.slice(0, rows.total, fits).map((row) => instanceAt(row, now)), total };
  }
  const end = total === undefined ? "]}" : `],"total":${total}}`;
  return stream("application/json; charset=utf-8", (output, signal) =>
    writeSlices(textsOf(rows, now, fits, end), output, signal),
  );
}

function* textsOf(
  rows: FleetRows,
  now: number,
  fits: Fits | undefined,
  end: string,
): Generator<string> {
  let lead = '{"runtimes":[';
  for (let from = 0; from < rows.total; from += SLICE) {
    const slice = rows.slice(from, from + SLICE, fits);
    if (slice.length > 0) {
      yield lead + slice.map((row) => JSON.stringify(instanceAt(row, now))).join(",");
      lead = ",";
    } else yield "";
  }
  yield lead === "," ? end : lead + end;
}

async function writeSlices(
  texts: Iterable<string>,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  for (const text of texts) {
    if (signal.aborted) return;
    if (text !== "" && !output.write(text)) await drained(output, signal);
    // Always, since a socket that takes everything at once drains without a turn of the loop.
    await ownTurn();
  }
}

/** Waits until the reader has caught up, or has gone. */
async function drained(output: Writable, signal: AbortSignal): Promise<void> {
  try {
    await once(output, "drain", { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
