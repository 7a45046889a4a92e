/**
 * The files that a backup copies, as they are at one moment: each gets a second name (a hard link) in a
 * separate directory. Snapshots are replaced by a rename and logs only grow, so these names keep the content
 * of that moment. The service goes on meanwhile, and no file is read yet.
 *
 * The order makes the files consistent with each other. The activity log is linked before the records that it
 * reports on, so a copy has no entry of a change that it lacks. The fleet's logs come before the snapshot
 * that would replace them, the rollouts before the policies that they name, and a policy index before its records and
 * texts, which are older.
 */
import { randomBytes } from "node:crypto";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isObject } from "../../core/validate.ts";
import { DAMAGED_SUFFIX } from "../damage.ts";
import { listDirectory, listOrganizations } from "../directories.ts";
import type { FileOperations } from "../file-operations.ts";
import { policyFileName, policyRecordName, type Layout } from "../layout.ts";
import { endOfLog } from "../log-lines.ts";
import { listNumbers, numberedPath } from "../numbered-files.ts";
import { refuseOddEntries } from "../odd-entries.ts";
import { listSegments, segmentPath } from "../segmented-log.ts";
import { readSnapshot, TEMPORARY_SUFFIX } from "../snapshot.ts";

/** A file of a data directory as a backup names it. */
export interface StagedFile {
  /** From the root of the data directory, with `/` between names. */
  readonly path: string;
  /** The size of the valid part. The bytes after it in a log were not acknowledged. */
  readonly bytes: number;
}

/** The files of one moment. */
export interface Staging {
  /** The directory of the second names, which have the same paths. */
  readonly directory: string;
  readonly files: readonly StagedFile[];
  /** Removes the second names. */
  release(): Promise<void>;
}

/** The acknowledged bytes of the open logs, by path. */
export type Committed = () => ReadonlyMap<string, number>;

/**
 * Links the files of a data directory. The caller holds its lock. Throws for an entry that is neither a file nor a
 * directory.
 */
export async function stageFiles(
  files: FileOperations,
  layout: Layout,
  committed: Committed,
): Promise<Staging> {
  const name = `backup-${randomBytes(8).toString("hex")}${TEMPORARY_SUFFIX}`;
  // Absolute, since the command may run in another directory. The next start removes it after a crash.
  const directory = resolve(layout.root, name);
  const release = (): Promise<void> => files.remove(directory);
  await refuseOddEntries(files, layout);
  try {
    const stage = new Stage(files, layout.root, directory, committed);
    await stage.root(layout);
    for (const id of await listOrganizations(files, layout)) await stage.organization(layout, id);
    return { directory, files: stage.files, release };
  } catch (error) {
    await release().catch(() => {}); // the first failure is reported
    throw error;
  }
}

class Stage {
  readonly files: StagedFile[] = [];
  readonly #disk: FileOperations;
  readonly #root: string;
  readonly #directory: string;
  readonly #committed: Committed;
  /** The second names of this stage. */
  readonly #linked = new Set<string>();

  constructor(disk: FileOperations, root: string, directory: string, committed: Committed) {
    this.#disk = disk;
    this.#root = root;
    this.#directory = directory;
    this.#committed = committed;
  }

  async root(layout: Layout): Promise<void> {
    for (const path of [layout.format, layout.demoMarker, layout.secret, layout.catalogCopy])
      await this.#add(path);
  }

  async organization(layout: Layout, id: string): Promise<void> {
    const own = layout.organization(id);
    const names = await listDirectory(this.#disk, own.directory);
    if (!names.includes(basename(own.organization))) return; // its creation was not committed
    const inOwn = (pattern: RegExp) => this.#addMatching(own.directory, names, pattern);
    // Retention removes files of logs after a checkpoint that no longer demands them: an earlier one needs them.
    const numbers = await listNumbers(this.#disk, own.activityLog);
    const activity = numbers.map((number) => numberedPath(own.activityLog, number));
    const held = await this.#segments(own.audit);
    for (const path of [...activity, ...held]) await this.#link(path);
    for (const directory of [own.auditProof, own.activityProof]) await this.#tree(directory);
    for (const path of activity) await this.#add(path);
    await inOwn(/^fleet(-\d+)?\.jsonl$/);
    await this.#add(own.fleetSnapshot);
    const segments = new Set([...held, ...(await this.#segments(own.audit))]);
    for (const path of segments) await this.#add(path);
    const beside = await listDirectory(this.#disk, own.audit);
    await this.#addMatching(own.audit, beside, /\.jsonl\.damaged$/);
    await inOwn(/\.jsonl\.damaged$/);
    await this.#add(own.rollouts);
    await this.#policies(own.policies, own.policyIndex);
    for (const path of [own.users, own.apiKeys, own.settings, own.providers, own.organization]) {
      await this.#add(path);
    }
  }

  /** Checkpoints before the hashes that they are of, and both before the lines, so that a copy lacks none. */
  async #tree(directory: string): Promise<void> {
    const names = await listDirectory(this.#disk, directory);
    await this.#addMatching(directory, names, /^checkpoints\.jsonl$/);
    await this.#addMatching(directory, names, /^position\.json$/);
    await this.#addMatching(directory, names, /^hashes-\d$/);
  }

  async #policies(directory: string, index: string): Promise<void> {
    if (!(await this.#add(index))) return;
    const parsed = await readSnapshot(this.#disk, this.#staged(index));
    if (!isObject(parsed)) return;
    await this.#policyRecords(directory, parsed["last"]);
    const { versions } = parsed; // of a directory with the layout of 0.1.0
    for (const version of Array.isArray(versions) ? versions : []) {
      const file: unknown = isObject(version) ? version["file"] : undefined;
      if (typeof file === "string" && basename(file) === file) {
        await this.#add(join(directory, file));
      }
    }
  }

  /** The records from the last version to the first; each names the previous one. */
  async #policyRecords(directory: string, last: unknown): Promise<void> {
    for (let version = last; typeof version === "string";) {
      const record = join(directory, policyRecordName(version));
      if (!(await this.#add(record))) return;
      await this.#add(join(directory, policyFileName(version)));
      const parsed = await readSnapshot(this.#disk, this.#staged(record));
      version = isObject(parsed) ? parsed["previous"] : undefined;
    }
  }

  async #addMatching(directory: string, names: readonly string[], pattern: RegExp): Promise<void> {
    for (const name of names.filter((one) => pattern.test(one))) {
      await this.#add(join(directory, name));
    }
  }

  async #segments(directory: string): Promise<readonly string[]> {
    const segments = await listSegments(this.#disk, directory);
    return segments.map((segment) => segmentPath(directory, segment));
  }

  /** Gives a file its second name; `false` if it does not exist, or was removed meanwhile. */
  async #link(path: string): Promise<boolean> {
    const staged = this.#staged(path);
    if (this.#linked.has(staged)) return true;
    await this.#disk.makeDirectory(dirname(staged));
    try {
      await this.#disk.link(path, staged);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
    this.#linked.add(staged);
    return true;
  }

  /** Links a file, and names it in the backup; `false` if it does not exist, or was removed meanwhile. */
  async #add(path: string): Promise<boolean> {
    if (!(await this.#link(path))) return false;
    const staged = this.#staged(path);
    const isLog = path.endsWith(".jsonl") && !path.endsWith(DAMAGED_SUFFIX);
    const bytes = isLog ? await this.#logBytes(path) : (await this.#disk.stat(staged)).size;
    const segments = relative(this.#root, path).split(/[\\/]/);
    this.files.push({ path: segments.join("/"), bytes });
    return true;
  }

  /** The acknowledged bytes of a log: known by its writer, or without a writer up to the last whole append. */
  async #logBytes(path: string): Promise<number> {
    const staged = this.#staged(path);
    const { size } = await this.#disk.stat(staged);
    const known = this.#committed().get(path);
    if (known !== undefined) return known;
    return endOfLog(this.#disk, staged, size);
  }

  #staged(path: string): string {
    return join(this.#directory, relative(this.#root, path));
  }
}
