import { checkQuota, type Quota } from "../../core/quota.ts";
import { validate } from "../../core/validate.ts";
import { emailKey, emailTaken } from "../../users/email.ts";
import { checkAdminRemains, isActiveAdmin } from "../../users/last-admin.ts";
import { storedUser, type StoredUser } from "../../users/schema.ts";
import type { UserStore } from "../../users/store.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import { RecordTable } from "../record-table.ts";
import { damaged } from "../snapshot.ts";
import type { UndoQueue } from "../undo-queue.ts";

/**
 * Keeps users in each organization's `users.json`, whose rename commits a change, and all of them in memory.
 * All changes go through one queue, since emails are unique over all organizations.
 */
export class FileUsers implements UserStore {
  readonly #queue: UndoQueue;
  readonly #table: RecordTable<StoredUser>;
  readonly #byEmail = new Map<string, StoredUser>();

  private constructor(queue: UndoQueue, table: RecordTable<StoredUser>) {
    this.#queue = queue;
    this.#table = table;
  }

  /**
   * Reads the users of the given organizations.
   *
   * @throws Error when a file is damaged, or two users have one email
   */
  static async open(
    files: FileOperations,
    layout: Layout,
    queue: UndoQueue,
    organizations: readonly string[],
  ): Promise<FileUsers> {
    const pathOf = (organization: string) => layout.organization(organization).users;
    const options = {
      name: "users",
      pathOf,
      read: (value: unknown, place: string) => validate(storedUser, value, place),
    };
    const table = await RecordTable.open(files, queue, options, organizations);
    const users = new FileUsers(queue, table);
    for (const user of table.all()) {
      const twin = users.findByEmail(user.email);
      if (twin) {
        const paths = `${pathOf(twin.organization_id)} and ${pathOf(user.organization_id)}`;
        throw damaged(paths, "two users have one email");
      }
      users.#byEmail.set(emailKey(user.email), user);
    }
    return users;
  }

  list(organization: string): readonly StoredUser[] {
    return this.#table.list(organization);
  }

  count(organization: string): number {
    return this.list(organization).length;
  }

  activeAdmins(organization: string): readonly StoredUser[] {
    return this.list(organization).filter(isActiveAdmin);
  }

  get(organization: string, id: string): StoredUser | undefined {
    return this.#table.get(organization, id);
  }

  findById(id: string): StoredUser | undefined {
    return this.#table.find(id);
  }

  findByEmail(email: string): StoredUser | undefined {
    return this.#byEmail.get(emailKey(email));
  }

  create(organization: string, user: StoredUser, quota?: Quota): Promise<void> {
    return this.#queue.run(async () => {
      checkQuota(quota, this.count(organization));
      this.#checkEmailIsFree(user.email);
      const own = { ...user, organization_id: organization };
      await this.#table.commit(organization, [...this.list(organization), own]);
      this.#byEmail.set(emailKey(own.email), own);
    });
  }

  readonly change: UserStore["change"] = (organization, id, change) =>
    this.#queue.run(async () => {
      const before = this.get(organization, id);
      if (!before) return undefined;
      const after = change(before);
      checkAdminRemains(this.activeAdmins(organization), before, after);
      await this.#table.commit(
        organization,
        this.list(organization).map((user) => (user === before ? after : user)),
      );
      this.#byEmail.set(emailKey(after.email), after);
      return after;
    });

  readonly remove: UserStore["remove"] = (organization, id, seen) =>
    this.#queue.run(async () => {
      const user = this.get(organization, id);
      if (!user) return false;
      seen?.(user);
      checkAdminRemains(this.activeAdmins(organization), user, undefined);
      await this.#table.commit(
        organization,
        this.list(organization).filter((other) => other !== user),
      );
      this.#byEmail.delete(emailKey(user.email));
      return true;
    });

  /**
   * Adds the first user of an organization that is being created, from within a task of the queue. `commit`
   * is called with the function that writes the users' file; memory changes after it has succeeded.
   *
   * @throws Conflict when the email is taken
   */
  async addFounder(
    user: StoredUser,
    commit: (writeUsers: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const { organization_id: organization } = user;
    this.#checkEmailIsFree(user.email);
    await commit(() => this.#table.write(organization, [user]));
    this.#table.adopt(organization, [user]);
    this.#byEmail.set(emailKey(user.email), user);
  }

  #checkEmailIsFree(email: string): void {
    if (this.findByEmail(email)) throw emailTaken(email);
  }
}
