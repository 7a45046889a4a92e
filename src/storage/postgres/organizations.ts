import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import { checkQuota } from "../../core/quota.ts";
import { formatTimestamp } from "../../core/time.ts";
import type { Organization } from "../../organizations/schema.ts";
import { freeSlug, slugOf, slugTaken } from "../../organizations/slug.ts";
import type { OrganizationStore } from "../../organizations/store.ts";
import { numberFrom, type Database } from "./database.ts";
import { inPortions } from "./in-portions.ts";
import { changeOf, type Session } from "./session.ts";
import { fromText, toText } from "./text.ts";
import { addUser } from "./users.ts";

interface Row {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const COLUMNS = "id, name, created_at, updated_at";
const COUNT = "SELECT count(*) AS n FROM organizations";

/** Creates the default organization in a database that has none. */
export async function createDefaultOrganization(database: Database, now: number): Promise<void> {
  await database.run(
    `INSERT INTO organizations (id, name, created_at, updated_at) VALUES ($1, 'Default', $2, $2)
     ON CONFLICT (id) DO NOTHING`,
    [DEFAULT_ORGANIZATION, formatTimestamp(now)],
  );
}

/** Keeps the organizations in the table `organizations`. */
export function organizationsOver(session: Session): OrganizationStore {
  return {
    list: () =>
      inPortions(
        session,
        `SELECT number, ${COLUMNS} FROM organizations WHERE id > $1 ORDER BY id LIMIT $2`,
        [],
        organizationOf,
      ),

    count: () => numberFrom(session, COUNT),

    async get(id) {
      const [row] = await session.query<Row>(`SELECT ${COLUMNS} FROM organizations WHERE id = $1`, [
        toText(id),
      ]);
      return row && organizationOf(row);
    },

    create: (draft, admin, quota) =>
      // Creations happen one after another.
      changeOf(session, DEFAULT_ORGANIZATION, async (transaction) => {
        const alike = draft.slug ?? slugOf(draft.name).slice(0, 8);
        const rows = await transaction.query<{ id: string }>(
          "SELECT id FROM organizations WHERE left(id, length($1)) = $1",
          [toText(alike)],
        );
        const taken = new Set(rows.map(({ id }) => id));
        checkQuota(quota, await numberFrom(transaction, COUNT));
        const { name, created_at } = draft;
        const id = draft.slug ?? freeSlug(name, (slug) => taken.has(slug));
        if (taken.has(id)) throw slugTaken(id);
        await transaction.run(
          "INSERT INTO organizations (id, name, created_at, updated_at) VALUES ($1, $2, $3, $3)",
          [id, toText(name), created_at],
        );
        await addUser(transaction, { ...admin, organization_id: id });
        return { id, name, slug: id, created_at, updated_at: created_at };
      }),

    rename: (id, name, updatedAt, seen) =>
      session.change(async (transaction) => {
        const [row] = await transaction.query<Row>(
          `SELECT ${COLUMNS} FROM organizations WHERE id = $1 FOR UPDATE`,
          [toText(id)],
        );
        if (!row) return undefined;
        const before = organizationOf(row);
        seen?.(before);
        await transaction.run("UPDATE organizations SET name = $2, updated_at = $3 WHERE id = $1", [
          row.id,
          toText(name),
          updatedAt,
        ]);
        return { ...before, name, updated_at: updatedAt };
      }),
  };
}

function organizationOf({ id, name, created_at, updated_at }: Row): Organization {
  return { id, name: fromText(name), slug: id, created_at, updated_at };
}
