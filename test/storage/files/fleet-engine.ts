import { DamageRegister } from "../../../src/storage/damage.ts";
import type { FileOperations } from "../../../src/storage/file-operations.ts";
import { createLog, type Log } from "../../../src/core/log.ts";
import { FileFleet } from "../../../src/storage/files/fleet.ts";
import { isOrganizationId, Layout } from "../../../src/storage/layout.ts";
import { ForgetfulFiles } from "../../support/forgetful-files.ts";

/** The approximate time of all reports in these tests. */
export const T0 = Date.parse("2026-11-20T20:30:00.000Z");

const layout = new Layout("/data");

/** The files of the organization in these tests. */
export const { directory, fleetLog, fleetSnapshot } = layout.organization("default");

/** A log without output. */
export const silent = createLog(
  "silent",
  () => T0,
  () => {},
);

/** A disk with an empty data directory. */
export async function newFiles(): Promise<ForgetfulFiles> {
  const files = new ForgetfulFiles();
  await files.makeDirectory("/data");
  const descriptor = await files.open("/", "r");
  await files.fsync(descriptor);
  await files.close(descriptor);
  return files;
}

/** Opens the fleets of all organizations on a disk. */
export async function open(
  files: FileOperations,
  minLogBytes?: number,
  log: Log = silent,
  now = () => T0,
): Promise<FileFleet> {
  const names = await files.readDirectory(layout.organizations).catch(() => []);
  const damage = new DamageRegister(files, log);
  const parts = { files, layout, now, log, damage, ...(minLogBytes && { minLogBytes }) };
  return FileFleet.open(parts, names.filter(isOrganizationId));
}
