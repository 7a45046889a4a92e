import type { Setting } from "../../settings/schema.ts";
import type { SettingsStore } from "../../settings/store.ts";
import type { Statements } from "./database.ts";
import { changeOf, type Session } from "./session.ts";
import { fromText, toText } from "./text.ts";

/** Keeps key-value pairs in the table `settings`. */
export function settingsOver(session: Session): SettingsStore {
  return {
    list: (organization) => read(session, organization),

    replace: (organization, settings, seen) =>
      changeOf(session, organization, async (transaction) => {
        seen?.(await read(transaction, organization));
        await transaction.run("DELETE FROM settings WHERE organization_id = $1", [organization]);
        await transaction.run(
          `INSERT INTO settings (organization_id, place, key, value)
           SELECT $1, place, key, value
             FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS pair (key, value, place)`,
          [
            organization,
            settings.map(({ key }) => toText(key)),
            settings.map(({ value }) => toText(value)),
          ],
        );
      }),
  };
}

async function read(
  statements: Pick<Statements, "query">,
  organization: string,
): Promise<readonly Setting[]> {
  const rows = await statements.query<Setting>(
    "SELECT key, value FROM settings WHERE organization_id = $1 ORDER BY place",
    [organization],
  );
  return rows.map(({ key, value }) => ({ key: fromText(key), value: fromText(value) }));
}
