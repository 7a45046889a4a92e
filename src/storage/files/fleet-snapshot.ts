import { isObject } from "../../core/validate.ts";
import type { FileOperations } from "../file-operations.ts";
import { damaged, readSnapshot, replaceByPieces } from "../snapshot.ts";
import type { FleetIndex } from "./fleet-index.ts";
import { recordOf, recordPrefix, replay } from "./fleet-records.ts";

const SLICE = 250; // under a millisecond of work

/** The fields of a snapshot, apart from its runtimes. */
export interface SnapshotHead {
  /** The number of the first log file that it does not include. */
  readonly log: number;
  /** The newest `last_seen` in it, in milliseconds. */
  readonly lastSeen: number;
  readonly bytes: number;
}

/**
 * Writes a snapshot, one runtime a line, slice by slice, so that a long one never delays the reports that
 * arrive meanwhile. The rename is the commit point.
 *
 * @param log the number of the first log file that is not included
 * @returns the snapshot's size in bytes
 */
export async function writeFleetSnapshot(
  files: FileOperations,
  path: string,
  organization: string,
  log: number,
  index: FleetIndex,
  signal: AbortSignal,
): Promise<number> {
  await replaceByPieces(files, path, pieces(organization, log, index, signal));
  return (await files.stat(path)).size;
}

function* pieces(
  organization: string,
  log: number,
  index: FleetIndex,
  signal: AbortSignal,
): Generator<Buffer> {
  const prefix = recordPrefix(organization);
  yield Buffer.from(`{"organization_id":${JSON.stringify(organization)},"log":${log},"runtimes":[`);
  let lead = "\n";
  for (const slice of index.slices(SLICE)) {
    signal.throwIfAborted();
    if (slice.length === 0) continue;
    yield Buffer.from(lead + slice.map((row) => recordOf(prefix, row, row.last_seen)).join(",\n"));
    lead = ",\n";
  }
  yield Buffer.from("\n]}\n");
}

/**
 * Reads a snapshot into an empty index.
 *
 * @returns `undefined` if there is no snapshot
 * @throws Error naming the file and the way out when it is damaged
 */
export async function readFleetSnapshot(
  files: FileOperations,
  path: string,
  organization: string,
  index: FleetIndex,
): Promise<SnapshotHead | undefined> {
  const value = await readSnapshot(files, path);
  if (value === undefined) return undefined;
  const { log, runtimes, organization_id } = isObject(value) ? value : {};
  if (!Number.isSafeInteger(log) || !Array.isArray(runtimes))
    throw damaged(path, "expected log and runtimes");
  if (organization_id !== organization) {
    throw damaged(path, "organization_id: belongs to another organization");
  }
  let lastSeen = 0;
  for (const [at, record] of runtimes.entries()) {
    const seen = replay(index, organization, record);
    if (seen === undefined) throw damaged(path, `runtimes[${at}]`);
    lastSeen = Math.max(lastSeen, seen);
  }
  const { size } = await files.stat(path);
  return { log: log as number, lastSeen, bytes: size };
}
