import { checkQuota } from "../../core/quota.ts";
import { emailKey, emailTaken } from "../../users/email.ts";
import { checkAdminRemains, isActiveAdmin } from "../../users/last-admin.ts";
import type { StoredUser } from "../../users/schema.ts";
import type { UserStore } from "../../users/store.ts";
import { CoalescedReads } from "./coalesced.ts";
import { numberFrom, type Statements } from "./database.ts";
import { codeOf } from "./faults.ts";
import { inPortions } from "./in-portions.ts";
import { changeOf, type Session } from "./session.ts";
import { toText } from "./text.ts";

interface Row {
  readonly document: string;
}

const COUNT = "SELECT count(*) AS n FROM users WHERE organization_id = $1";
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
export function usersOver(session: Session): UserStore {
  const byId = new CoalescedReads(async (ids) => {
    const rows = await session.query<Row>(
      "SELECT document FROM users WHERE id = ANY($1)",
      [ids.map(toText)],
      "users-by-id",
    );
    return new Map(rows.map(userOf).map((user) => [user.id, user]));
  });
  return {
    list: (organization) =>
      inPortions(
        session,
        `SELECT id, number, document FROM users
          WHERE organization_id = $3 AND id > $1 ORDER BY id LIMIT $2`,
        [organization],
        userOf,
      ),

    count: (organization) => numberFrom(session, COUNT, [organization]),

    activeAdmins: (organization) => adminsOf(session, organization),

    async get(organization, id) {
      const user = await byId.get(id);
      return user?.organization_id === organization ? user : undefined;
    },

    findById: (id) => byId.get(id),

    async findByEmail(email) {
      const [row] = await session.query<Row>("SELECT document FROM users WHERE email_key = $1", [
        keyOf(email),
      ]);
      return row && userOf(row);
    },

    create: (organization, user, quota) =>
      changeOf(session, organization, async (transaction) => {
        checkQuota(quota, await numberFrom(transaction, COUNT, [organization]));
        await addUser(transaction, { ...user, organization_id: organization });
      }),

    change: (organization, id, change) =>
      changeOf(session, organization, async (transaction) => {
        const before = await readUser(transaction, organization, id);
        if (!before) return undefined;
        const after = change(before);
        checkAdminRemains(await adminsOf(transaction, organization), before, after);
        await transaction.run(
          `UPDATE users SET is_active_admin = $3, document = $4
            WHERE organization_id = $1 AND id = $2`,
          [organization, toText(id), ...columnsOf(after)],
        );
        return after;
      }),

    remove: (organization, id, seen) =>
      changeOf(session, organization, async (transaction) => {
        const user = await readUser(transaction, organization, id);
        if (!user) return false;
        seen?.(user);
        checkAdminRemains(await adminsOf(transaction, organization), user, undefined);
        await transaction.run("DELETE FROM users WHERE organization_id = $1 AND id = $2", [
          organization,
          toText(id),
        ]);
        return true;
      }),
  };
}

async function readUser(
  transaction: Statements,
  organization: string,
  id: string,
): Promise<StoredUser | undefined> {
  const [row] = await transaction.query<Row>(
    "SELECT document FROM users WHERE organization_id = $1 AND id = $2",
    [organization, toText(id)],
  );
  return row && userOf(row);
}

async function adminsOf(
  statements: Pick<Statements, "query">,
  organization: string,
): Promise<readonly StoredUser[]> {
  const rows = await statements.query<Row>(
    "SELECT document FROM users WHERE organization_id = $1 AND is_active_admin",
    [organization],
  );
  return rows.map(userOf);
}

function keyOf(email: string): string {
  return toText(emailKey(email));
}

function columnsOf(user: StoredUser): readonly [isActiveAdmin: boolean, document: string] {
  return [isActiveAdmin(user), JSON.stringify(user)];
}

function userOf({ document }: Row): StoredUser {
  return JSON.parse(document) as StoredUser;
}
