import { dirname } from "node:path";
import { isObject } from "../../core/validate.ts";
import type { FileOperations } from "../file-operations.ts";
import { writeAll } from "../file-ranges.ts";
import { damaged, readSnapshot, syncDirectory, TEMPORARY_SUFFIX } from "../snapshot.ts";
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
  const aside = `${path}${TEMPORARY_SUFFIX}`; // one at a time; a stray file is replaced
  const descriptor = await files.open(aside, "w");
  let size = 0;
  try {
    for (const text of pieces(organization, log, index)) {
      signal.throwIfAborted();
      const bytes = Buffer.from(text, "utf8");
      await writeAll(files, descriptor, bytes, size, aside);
      size += bytes.length;
    }
    await files.fsync(descriptor);
  } finally {
    await files.close(descriptor);
  }
  await files.rename(aside, path);
  await syncDirectory(files, dirname(path));
  return size;
}

function* pieces(organization: string, log: number, index: FleetIndex): Generator<string> {
  const prefix = recordPrefix(organization);
  yield `{"organization_id":${JSON.stringify(organization)},"log":${log},"runtimes":[`;
  let lead = "\n";
  for (const slice of index.slices(SLICE)) {
    if (slice.length === 0) continue;
    yield lead + slice.map((row) => recordOf(prefix, row, row.last_seen)).join(",\n");
    lead = ",\n";
  }
  yield "\n]}\n";
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
