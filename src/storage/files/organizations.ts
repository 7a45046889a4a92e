import { basename } from "node:path";
import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { compareTexts } from "../../core/compare-texts.ts";
import { checkQuota, type Quota } from "../../core/quota.ts";
import { formatTimestamp } from "../../core/time.ts";
import { validate } from "../../core/validate.ts";
import { organization as schema, type Organization } from "../../organizations/schema.ts";
import { freeSlug, slugTaken } from "../../organizations/slug.ts";
import type { OrganizationDraft, OrganizationStore } from "../../organizations/store.ts";
import type { UserDraft } from "../../users/draft.ts";
import type { FileOperations } from "../file-operations.ts";
import { isOrganizationId, type Layout } from "../layout.ts";
import { inParallel } from "../parallel.ts";
import {
  damaged,
  readContent,
  readSnapshot,
  syncDirectory,
  TEMPORARY_SUFFIX,
  writeSnapshot,
} from "../snapshot.ts";
import { UndoQueue } from "../undo-queue.ts";
import { FileUsers } from "./users.ts";

/**
 * Keeps each organization as a directory with its `organization.json`. The rename of that file commits the
 * creation: a directory without it does not count. An organization and its first user are created together,
 * so this store also opens the store of users and shares its queue with it.
 */
export class FileOrganizations implements OrganizationStore {
  readonly users: FileUsers;
  readonly #files: FileOperations;
  readonly #layout: Layout;
  /** The queue of all changes, also those of users. */
  readonly changes: UndoQueue;
  readonly #records: Map<string, Organization>;

  private constructor(
    files: FileOperations,
    layout: Layout,
    queue: UndoQueue,
    records: Map<string, Organization>,
    users: FileUsers,
  ) {
    this.#files = files;
    this.#layout = layout;
    this.changes = queue;
    this.#records = records;
    this.users = users;
  }

  /**
   * Reads all organizations and their users; creates the default one if it is missing.
   *
   * @throws Error naming the file that is damaged, and the way out
   */
  static async open(files: FileOperations, layout: Layout, now: Clock): Promise<FileOrganizations> {
    await files.makeDirectory(layout.organizations);
    await syncDirectory(files, layout.root);
    await syncDirectory(files, layout.organizations);
    const found: Organization[] = [];
    const names = await files.readDirectory(layout.organizations);
    await inParallel(names.filter(isOrganizationId), async (id) => {
      // If a server was killed between a rename and its sync, the change is visible now, but a power cut would undo
      // it. This applies to every snapshot in this directory.
      await syncDirectory(files, layout.organization(id).directory);
      const record = await readOrganization(files, layout, id);
      if (record) found.push(record);
    });
    found.sort((a, b) => compareTexts(a.created_at, b.created_at) || compareTexts(a.id, b.id));
    const records = new Map(found.map((record) => [record.id, record]));
    if (!records.has(DEFAULT_ORGANIZATION)) {
      records.set(DEFAULT_ORGANIZATION, await createDefault(files, layout, now()));
    }
    const queue = new UndoQueue();
    const users = await FileUsers.open(files, layout, queue, [...records.keys()]);
    return new FileOrganizations(files, layout, queue, records, users);
  }

  list(): readonly Organization[] {
    return [...this.#records.values()];
  }

  count(): number {
    return this.#records.size;
  }

  get(id: string): Organization | undefined {
    return this.#records.get(id);
  }

  /** The ids of all organizations: the only ones that may become part of a path. */
  ids(): readonly string[] {
    return [...this.#records.keys()];
  }

  create(draft: OrganizationDraft, admin: UserDraft, quota?: Quota): Promise<Organization> {
    return this.changes.run(async () => {
      checkQuota(quota, this.#records.size);
      const { name, created_at } = draft;
      const id = draft.slug ?? freeSlug(name, (slug) => this.#records.has(slug));
      if (this.#records.has(id)) throw slugTaken(id);
      const created = { id, name, slug: id, created_at, updated_at: created_at };
      await this.users.addFounder({ ...admin, organization_id: id }, (writeUsers) =>
        this.changes.write(
          () => this.#writeNew(created, writeUsers),
          () => this.#forget(id),
        ),
      );
      this.#records.set(id, created);
      return created;
    });
  }

  readonly rename: OrganizationStore["rename"] = (id, name, updatedAt, seen) =>
    this.changes.run(async () => {
      const before = this.#records.get(id);
      if (!before) return undefined;
      seen?.(before);
      const after = { ...before, name, updated_at: updatedAt };
      const path = this.#layout.organization(id).organization;
      await this.changes.write(
        () => writeSnapshot(this.#files, path, after), // the rename commits
        () => writeSnapshot(this.#files, path, before),
      );
      this.#records.set(id, after);
      return after;
    });

  async #writeNew(created: Organization, writeUsers: () => Promise<void>): Promise<void> {
    const { directory, organization } = this.#layout.organization(created.id);
    await this.#files.remove(directory); // left by a crash during an earlier creation
    await this.#files.makeDirectory(directory);
    await writeUsers();
    // The directory entry must be durable before anything in it counts.
    await syncDirectory(this.#files, this.#layout.organizations);
    await writeSnapshot(this.#files, organization, created); // the rename commits
  }

  async #forget(id: string): Promise<void> {
    const { directory, organization } = this.#layout.organization(id);
    await this.#files.remove(organization); // first: without it the other files do not count
    await this.#files.remove(directory);
    await syncDirectory(this.#files, this.#layout.organizations);
  }
}

async function readOrganization(
  files: FileOperations,
  layout: Layout,
  id: string,
): Promise<Organization | undefined> {
  const { directory, organization: path, users } = layout.organization(id);
  const snapshot = await readSnapshot(files, path);
  if (snapshot !== undefined) {
    const record = readContent(path, () => validate(schema, snapshot));
    if (record.id !== id) throw damaged(path, "id: belongs to another organization");
    return record;
  }
  if (id === DEFAULT_ORGANIZATION) return undefined; // it exists, even if its file is lost
  const names = await files.readDirectory(directory);
  // A new organization of that name must not inherit the files of an earlier one.
  if (!isUnfinished(names, users)) throw damaged(path, "it is missing");
  return undefined;
}

/** Whether a directory without `organization.json` has nothing but what a creation wrote before a server ended. */
export function isUnfinished(names: readonly string[], users: string): boolean {
  return names.every((name) => name === basename(users) || name.endsWith(TEMPORARY_SUFFIX));
}

async function createDefault(
  files: FileOperations,
  layout: Layout,
  now: number,
): Promise<Organization> {
  const at = formatTimestamp(now);
  const created = {
    id: DEFAULT_ORGANIZATION,
    name: "Default",
    slug: DEFAULT_ORGANIZATION,
    created_at: at,
    updated_at: at,
  };
  const { directory, organization } = layout.organization(DEFAULT_ORGANIZATION);
  await files.makeDirectory(directory);
  await syncDirectory(files, layout.organizations);
  await writeSnapshot(files, organization, created); // the rename commits
  return created;
}
