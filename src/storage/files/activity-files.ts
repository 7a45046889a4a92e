import { activityEntry, type ActivityEntry } from "../../activity/schema.ts";
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { Yielder } from "../../core/scheduling/yielder.ts";
import { validate } from "../../core/validate.ts";
import { DamageFound, type DamageRegister } from "../damage.ts";
import { ifExists, type FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import { readLines } from "../log-lines.ts";
import { listNumbers, numberedPath } from "../numbered-files.ts";
import type { Removing } from "./proof/removing.ts";

/** The parts of one organization's activity log. */
export interface ActivityLogParts {
  readonly organization: string;
  readonly files: FileOperations;
  readonly layout: Layout;
  readonly now: Clock;
  readonly log: Log;
  /** The register that takes damaged lines. */
  readonly damage: DamageRegister;
  /** Called before files of an organization are removed, which waits for it; with the names of the files. */
  readonly removing?: Removing | undefined;
  /** The most bytes of the log; beyond them its oldest files are removed. */
  readonly maxBytes: number;
  /** The number of newest entries that are never removed. */
  readonly keptEntries: number;
  /** The size at which a file takes no further entries. */
  readonly fileBytes: number;
}

/** The path of a file of the log. */
export function activityPath({ layout, organization }: ActivityLogParts, file: number): string {
  return numberedPath(layout.organization(organization).activityLog, file);
}

/** The numbers of an organization's files, oldest first. */
export function listActivityFiles(parts: ActivityLogParts): Promise<number[]> {
  return listNumbers(parts.files, parts.layout.organization(parts.organization).activityLog);
}

/**
 * Parses a line; `undefined` if it is not an entry of the organization. Bodies of requests may have null for an absent
 * member; entries are written without it, and readers rely on that.
 */
export function parseEntry(line: Buffer, organization: string): ActivityEntry | undefined {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    const entry = validate(activityEntry, value);
    const isWhole = Object.values(value as object).every((member) => member !== null);
    return isWhole && entry.organization_id === organization ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Takes an entry, and the offset of its line in the file. */
export type TakeEntry = (entry: ActivityEntry, offset: number, length: number) => void;

/** About a millisecond of work. */
const READ_BYTES = 32 << 10;

/**
 * Reads the entries of a file, and yields to other work; damaged lines are left out.
 *
 * @param end the acknowledged bytes: later entries may be taken back
 * @param signal ends the reading
 */
export function readEntries(
  parts: ActivityLogParts,
  file: number,
  end: number,
  take: TakeEntry,
  signal?: AbortSignal,
): Promise<void> {
  const yielder = new Yielder(signal);
  const takeLine = (line: Buffer, offset: number): void => {
    const entry = parseEntry(line, parts.organization);
    if (entry) take(entry, offset, line.length);
  };
  const reading = { end, bytes: READ_BYTES, pause: () => yielder.step() };
  return readLines(parts.files, activityPath(parts, file), takeLine, reading);
}

/**
 * Searches an organization's log for damaged lines, and registers them. Skips entries that are being written,
 * and files that retention removes meanwhile.
 */
export async function checkActivity(parts: ActivityLogParts): Promise<void> {
  for (const file of await listActivityFiles(parts)) {
    await ifExists(checkFile(parts, activityPath(parts, file)));
  }
}

async function checkFile(
  { files, organization, damage }: ActivityLogParts,
  path: string,
): Promise<void> {
  const { size } = await files.stat(path);
  const found = new DamageFound(path);
  await readLines(files, path, (line, offset) => {
    if (offset + line.length >= size) return false;
    if (!parseEntry(line, organization)) found.add(line, offset);
    return undefined;
  });
  await damage.enter(found);
}
