import { checkQuota, type Quota } from "../../core/quota.ts";
import { emailKey, emailTaken } from "../../users/email.ts";
import { checkAdminRemains } from "../../users/last-admin.ts";
import type { StoredUser } from "../../users/schema.ts";
import type { UserStore } from "../../users/store.ts";
import { CoalescedReads } from "./coalesced.ts";
import { numberFrom, type Statements } from "./database.ts";
import { codeOf } from "./faults.ts";
import { lockOrganization } from "./lock-organization.ts";
import type { Session } from "./session.ts";
import { toText } from "./text.ts";

interface Row {
  readonly document: string;
}

const UNIQUE_VIOLATION = "23505";

/**
 * Adds a user within a transaction.
 *
 * @throws Conflict when the email is taken, in any organization
 */
export async function addUser(transaction: Statements, user: StoredUser): Promise<void> {
  try {
    await transaction.run(
      `INSERT INTO users (organization_id, id, email_key, is_active_admin, document)
       VALUES ($1, $2, $3, $4, $5)`,
      [user.organization_id, toText(user.id), keyOf(user.email), ...columnsOf(user)],
    );
  } catch (error) {
    throw codeOf(error) === UNIQUE_VIOLATION ? emailTaken(user.email) : error;
  }
}

/** Keeps the users in the table `users`. */
export class PostgresUsers implements UserStore {
  readonly #session: Session;
  readonly #byId = new CoalescedReads((ids) => this.#load(ids));

  constructor(session: Session) {
    this.#session = session;
  }

  async list(organization: string): Promise<readonly StoredUser[]> {
    const rows = await this.#session.query<Row>(
      "SELECT document FROM users WHERE organization_id = $1 ORDER BY number",
      [organization],
    );
    return rows.map(userOf);
  }

  async get(organization: string, id: string): Promise<StoredUser | undefined> {
    const user = await this.findById(id);
    return user?.organization_id === organization ? user : undefined;
  }

  findById(id: string): Promise<StoredUser | undefined> {
    return this.#byId.get(id);
  }

  async findByEmail(email: string): Promise<StoredUser | undefined> {
    const [row] = await this.#session.query<Row>(
      "SELECT document FROM users WHERE email_key = $1",
      [keyOf(email)],
    );
    return row && userOf(row);
  }

  create(organization: string, user: StoredUser, quota?: Quota): Promise<void> {
    return this.#session.change(async (transaction) => {
      await lockOrganization(transaction, organization);
      const all = "SELECT count(*) AS n FROM users WHERE organization_id = $1";
      checkQuota(quota, await numberFrom(transaction, all, [organization]));
      await addUser(transaction, { ...user, organization_id: organization });
    });
  }

  readonly change: UserStore["change"] = (organization, id, change) =>
    this.#session.change(async (transaction) => {
      const before = await lockUser(transaction, organization, id);
      if (!before) return undefined;
      const after = change(before);
      checkAdminRemains(await adminsOf(transaction, organization), before, after);
      await transaction.run(
        `UPDATE users SET is_active_admin = $3, document = $4
          WHERE organization_id = $1 AND id = $2`,
        [organization, toText(id), ...columnsOf(after)],
      );
      return after;
    });

  remove(organization: string, id: string): Promise<boolean> {
    return this.#session.change(async (transaction) => {
      const user = await lockUser(transaction, organization, id);
      if (!user) return false;
      checkAdminRemains(await adminsOf(transaction, organization), user, undefined);
      await transaction.run("DELETE FROM users WHERE organization_id = $1 AND id = $2", [
        organization,
        toText(id),
      ]);
      return true;
    });
  }

  async #load(ids: readonly string[]): Promise<ReadonlyMap<string, StoredUser>> {
    const rows = await this.#session.query<Row>(
      "SELECT document FROM users WHERE id = ANY($1)",
      [ids.map(toText)],
      "users-by-id",
    );
    return new Map(rows.map(userOf).map((user) => [user.id, user]));
  }
}

async function lockUser(
  transaction: Statements,
  organization: string,
  id: string,
): Promise<StoredUser | undefined> {
  await lockOrganization(transaction, organization);
  const [row] = await transaction.query<Row>(
    "SELECT document FROM users WHERE organization_id = $1 AND id = $2",
    [organization, toText(id)],
  );
  return row && userOf(row);
}

async function adminsOf(
  transaction: Statements,
  organization: string,
): Promise<readonly StoredUser[]> {
  const rows = await transaction.query<Row>(
    "SELECT document FROM users WHERE organization_id = $1 AND is_active_admin",
    [organization],
  );
  return rows.map(userOf);
}

function keyOf(email: string): string {
  return toText(emailKey(email));
}

function columnsOf(user: StoredUser): readonly [isActiveAdmin: boolean, document: string] {
  return [user.role === "admin" && user.active, JSON.stringify(user)];
}

function userOf({ document }: Row): StoredUser {
  return JSON.parse(document) as StoredUser;
}
