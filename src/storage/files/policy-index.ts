/**
 * The files of policy versions: a record beside each text, which names the version published before it, and
 * an index that names the last version and the active one. So a publish writes the same few bytes for any number of
 * versions, and a record that the index does not lead to does not count.
 *
 * The time at which a version was last activated is in the index while it is active, since the index's rename
 * commits that too; it is copied to the version's record before another version becomes active.
 */
import { join } from "node:path";
import { integer, list, object, string } from "../../core/schema-parts.ts";
import type { Infer, Schema } from "../../core/schema.ts";
import { validate } from "../../core/validate.ts";
import { policy as policyReply } from "../../policies/schema.ts";
import type { PolicyVersion } from "../../policies/store.ts";
import { listDirectory } from "../directories.ts";
import type { FileOperations } from "../file-operations.ts";
import { policyFileName, policyRecordName, type Layout } from "../layout.ts";
import { inParallel } from "../parallel.ts";
import {
  readContent,
  readSnapshot,
  replaceFile,
  snapshotText,
  syncDirectory,
  writeSnapshot,
  writeWhole,
} from "../snapshot.ts";
import { PolicyVersions } from "./policy-versions.ts";

const { yaml: _yaml, active: _active, ...stored } = policyReply.properties;

const recordSchema = object({
  description: "The record of a version.",
  optional: ["description", "activated_at", "activated_by", "previous"],
  properties: {
    ...stored,
    file: string("The file with the text, beside this one."),
    sha256: string("The text's SHA-256, in hexadecimal digits."),
    bytes: integer("The text's length in bytes.", { minimum: 0 }),
    previous: string("The version published before this one."),
  },
});
type PolicyRecord = Infer<typeof recordSchema>;

const indexSchema = {
  type: "object",
  properties: {
    active: string("The active version; absent while no version is active."),
    activated_at: stored.activated_at,
    activated_by: stored.activated_by,
    last: string("The version published last; only the layout of 0.1.0 has an index without it."),
    versions: list("Every version, in the order of publishing; only in 0.1.0.", recordSchema),
  },
} as const satisfies Schema;
type PolicyIndex = Infer<typeof indexSchema>;

const RECORD_FILE = /-[0-9a-f]{32}\.json$/;

/** The files of an organization's policies, without the texts. */
export class PolicyRecords {
  readonly #files: FileOperations;
  readonly #directory: string;
  readonly #index: string;
  readonly #organization: string;

  constructor(files: FileOperations, layout: Layout, organization: string) {
    const { policies, policyIndex } = layout.organization(organization);
    this.#files = files;
    this.#directory = policies;
    this.#index = policyIndex;
    this.#organization = organization;
  }

  /**
   * Reads all versions.
   *
   * @returns the versions, and whether the index has all of them, as in the layout of 0.1.0
   * @throws Error naming the file that is damaged, and the way out
   */
  async read(): Promise<{ readonly versions: PolicyVersions; readonly isOld: boolean }> {
    const parsed = await readSnapshot(this.#files, this.#index);
    if (parsed === undefined) return { versions: new PolicyVersions(), isOld: false };
    const index = readContent(this.#index, () => validate(indexSchema, parsed));
    const isOld = index.versions !== undefined;
    const versions = new PolicyVersions();
    const found = isOld ? new Map<string, unknown>() : await this.#readRecords();
    readContent(this.#index, () => {
      if (!isOld && index.last === undefined) throw new Error("last: required");
      for (const record of index.versions ?? chain(found, index.last)) this.#add(versions, record);
      if (index.active !== undefined) activate(versions, index.active, index);
    });
    return { versions, isOld };
  }

  /** Converts the layout of 0.1.0, with all versions in the index, into records; the index commits it. */
  async convert(versions: PolicyVersions): Promise<void> {
    await inParallel(versions.newestFirst(), (version) =>
      writeWhole(this.#files, this.#path(version), bytesOf(versions, version)),
    );
    await syncDirectory(this.#files, this.#directory);
    await this.writeIndex(versions.active, versions.last);
  }

  /** Writes the record of a version that is about to be published, and syncs the directory. */
  async add(version: PolicyVersion, previous: string | undefined): Promise<void> {
    await writeWhole(this.#files, this.#path(version), bytesOfRecord(version, previous));
    await syncDirectory(this.#files, this.#directory);
  }

  /** Copies the index's data about the active version into its record. */
  async settle(versions: PolicyVersions): Promise<void> {
    const { active } = versions;
    if (active?.policy.activated_at === undefined) return;
    await replaceFile(this.#files, this.#path(active), bytesOf(versions, active));
  }

  /**
   * Replaces the index; its rename commits the versions that it names. Without versions there is no index: one
   * that names none would look like an index that has lost its content.
   */
  async writeIndex(active: PolicyVersion | undefined, last: string | undefined): Promise<void> {
    if (last === undefined) {
      await this.#files.remove(this.#index);
      await syncDirectory(this.#files, this.#directory);
      return;
    }
    const { version, activated_at, activated_by } = active?.policy ?? {};
    const index: PolicyIndex = { active: version, activated_at, activated_by, last };
    await writeSnapshot(this.#files, this.#index, index);
  }

  /** Removes the record of a version that no index leads to. */
  remove(version: PolicyVersion): Promise<void> {
    return this.#files.remove(this.#path(version));
  }

  /** The content of the record files, by name; an error for one that cannot be read. */
  async #readRecords(): Promise<ReadonlyMap<string, unknown>> {
    const found = new Map<string, unknown>();
    const names = await listDirectory(this.#files, this.#directory);
    await inParallel(
      names.filter((name) => RECORD_FILE.test(name)),
      async (name) => {
        const read = readSnapshot(this.#files, join(this.#directory, name));
        found.set(name, await read.catch((error: unknown) => error));
      },
    );
    return found;
  }

  #add(versions: PolicyVersions, { file, sha256, bytes, previous: _, ...policy }: PolicyRecord) {
    const { version, organization_id } = policy;
    if (organization_id !== this.#organization) {
      throw new Error(`"${version}" is another organization's`);
    }
    if (file !== policyFileName(version)) throw new Error(`"${version}" has a wrong file name`);
    if (versions.has(version)) throw new Error(`"${version}" appears twice`);
    versions.add({ policy: { ...policy, active: false }, sha256, bytes });
  }

  #path({ policy }: PolicyVersion): string {
    return join(this.#directory, policyRecordName(policy.version));
  }
}

/** The found records, from the first version to the last one. */
function chain(found: ReadonlyMap<string, unknown>, last: string | undefined) {
  const records: PolicyRecord[] = [];
  for (let version = last; version !== undefined;) {
    const name = policyRecordName(version);
    const parsed = found.get(name);
    if (parsed instanceof Error) throw new Error(`${name}: ${parsed.message}`, { cause: parsed });
    if (parsed === undefined) throw new Error(`${name} is missing`);
    if (records.length > found.size) throw new Error("the versions lead in a circle");
    const record = validate(recordSchema, parsed, name);
    records.push(record);
    version = record.previous;
  }
  return records.reverse();
}

function activate(
  versions: PolicyVersions,
  name: string,
  { activated_at, activated_by }: PolicyIndex,
): void {
  const active = versions.get(name);
  if (!active) throw new Error(`no version is active: "${name}" is not there`);
  versions.activate(
    activated_at === undefined || activated_by === undefined
      ? active
      : activated(active, activated_at, activated_by),
  );
}

/** The version after its activation. */
export function activated(version: PolicyVersion, at: string, by: string): PolicyVersion {
  const { active, ...rest } = version.policy; // which comes last, as after a restart
  return { ...version, policy: { ...rest, activated_at: at, activated_by: by, active } };
}

function bytesOf(versions: PolicyVersions, version: PolicyVersion): Buffer {
  return bytesOfRecord(version, versions.previous(version.policy.version));
}

function bytesOfRecord({ policy, sha256, bytes }: PolicyVersion, previous?: string): Buffer {
  const { active: _, ...rest } = policy;
  const record: PolicyRecord = {
    ...rest,
    file: policyFileName(policy.version),
    sha256,
    bytes,
    previous,
  };
  return Buffer.from(snapshotText(record), "utf8");
}
