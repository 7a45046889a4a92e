import { once } from "node:events";
import type { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { formatTimestamp } from "../core/time.ts";
import { stream, type Reply } from "../http/reply.ts";
import type { RuntimeInstance } from "./schema.ts";
import { statusAfter } from "./status.ts";
import type { FleetRows, StoredRuntime } from "./store.ts";

/** A longer list is made and sent slice by slice, so that other requests go on meanwhile. */
export const LONG_LIST = 2_000;

const SLICE = 500; // about half a millisecond of work

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

/** Answers the fleet: at once when it is short, else as a stream that yields between slices. */
export function listing(rows: FleetRows, now: number): Reply | { runtimes: RuntimeInstance[] } {
  if (rows.total <= LONG_LIST) {
    return { runtimes: rows.slice(0, rows.total).map((row) => instanceAt(row, now)) };
  }
  return stream("application/json; charset=utf-8", (output, signal) =>
    writeSlices(rows, now, output, signal),
  );
}

async function writeSlices(
  rows: FleetRows,
  now: number,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  let lead = '{"runtimes":[';
  for (let from = 0; from < rows.total && !signal.aborted; from += SLICE) {
    const slice = rows.slice(from, from + SLICE);
    if (slice.length === 0) continue;
    const text = slice.map((row) => JSON.stringify(instanceAt(row, now))).join(",");
    const hasRoom = output.write(lead + text);
    lead = ",";
    if (hasRoom) await nextTurn();
    else await drained(output, signal);
  }
  if (!signal.aborted) output.write(lead === "," ? "]}" : `${lead}]}`);
}

/** Waits until the reader has caught up, or has gone. */
async function drained(output: Writable, signal: AbortSignal): Promise<void> {
  try {
    await once(output, "drain", { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
