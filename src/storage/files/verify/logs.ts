import { join } from "node:path";
import { DAMAGED_SUFFIX } from "../../damage.ts";
import { listDirectory } from "../../directories.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { endOfLog, readLines } from "../../log-lines.ts";
import { listNumbers, numberedPath } from "../../numbered-files.ts";
import { parseEntry } from "../activity-files.ts";
import { sidecarOf } from "../audit/sidecar/stray-files.ts";
import { isEventLine } from "../audit/write/lines.ts";
import { FleetIndex } from "../fleet-index.ts";
import { replayLine } from "../fleet-records.ts";
import { readFleetSnapshot } from "../fleet-snapshot.ts";
import type { VerifyReport } from "./report.ts";
import { verifySidecar } from "./sidecar.ts";

/** Whether a line is a record of the log. */
type IsRecord = (line: Buffer) => boolean;

/** Checks the logs of one organization line by line, and the indexes beside them. */
export async function verifyLogs(
  files: FileOperations,
  layout: Layout,
  id: string,
  report: VerifyReport,
): Promise<void> {
  const own = layout.organization(id);
  const names = await listDirectory(files, own.directory);
  for (const name of names.filter((one) => one.endsWith(DAMAGED_SUFFIX))) {
    report.note(join(own.directory, name), "holds damaged lines that a start has set aside");
  }
  const isEntry: IsRecord = (line) => parseEntry(line, id) !== undefined;
  const activity = await listNumbers(files, own.activityLog);
  for (const file of activity) {
    const path = numberedPath(own.activityLog, file);
    await verifyLog(files, path, file === activity.at(-1), isEntry, report);
  }
  await verifyFleet(files, layout, id, report);
  await verifyAudit(files, own.audit, id, report);
}

async function verifyFleet(
  files: FileOperations,
  layout: Layout,
  id: string,
  report: VerifyReport,
): Promise<void> {
  const { fleetLog, fleetSnapshot } = layout.organization(id);
  const index = new FleetIndex();
  const head = await report.reading(fleetSnapshot, () =>
    readFleetSnapshot(files, fleetSnapshot, id, index),
  );
  const logs = await listNumbers(files, fleetLog);
  for (const file of logs) {
    const path = numberedPath(fleetLog, file);
    if (file < (head?.log ?? 1)) report.note(path, "has gone into fleet.json already");
    const isReport: IsRecord = (line) => replayLine(index, id, line) !== undefined;
    await verifyLog(files, path, file === logs.at(-1), isReport, report);
  }
}

async function verifyAudit(
  files: FileOperations,
  directory: string,
  id: string,
  report: VerifyReport,
): Promise<void> {
  const names = await listDirectory(files, directory);
  const segments = names.filter((name) => name.endsWith(".jsonl"));
  for (const name of segments) {
    const path = join(directory, name);
    let events = 0;
    const isEvent: IsRecord = (line) => isEventLine(line, id) && ++events > 0;
    await verifyLog(files, path, name === segments.at(-1), isEvent, report);
    report.events += events;
    const sidecar = sidecarOf(name);
    if (names.includes(sidecar)) {
      await verifySidecar(files, join(directory, sidecar), path, events, report);
    }
  }
  for (const name of names) {
    const log = /^(\d{12})\.(?:idx|jsonl\.damaged)$/.exec(name)?.[1];
    const path = join(directory, name);
    if (log === undefined) continue;
    if (!segments.includes(`${log}.jsonl`)) report.note(path, "lies beside no segment");
    else if (name.endsWith(DAMAGED_SUFFIX)) {
      report.note(path, "holds damaged lines that a start has set aside");
    }
  }
}

/** Checks one log: every line must be a record, and only the last file may have a torn tail. */
async function verifyLog(
  files: FileOperations,
  path: string,
  isLast: boolean,
  isRecord: IsRecord,
  report: VerifyReport,
): Promise<void> {
  await report.reading(path, async () => {
    const { size } = await files.stat(path);
    const end = await endOfLog(files, path, size);
    const take = (line: Buffer, offset: number): void => {
      if (isRecord(line)) return;
      const what = line[0] === 0 ? "are zeros" : "are not a record of this organization";
      report.problem(path, `byte ${offset}: ${line.length} bytes ${what}`);
    };
    await readLines(files, path, take, { end });
    const torn = `byte ${end}: the last ${size - end} bytes are half an append`;
    if (end < size && isLast) report.note(path, `${torn}, which the next start cuts off`);
    else if (end < size) report.problem(path, torn);
  });
}
