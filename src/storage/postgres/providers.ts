import type { ProviderStatus } from "../../providers/schema.ts";
import type { ProviderOverrideStore } from "../../providers/store.ts";
import { changeOf, type Session } from "./session.ts";
import { fromText, toText } from "./text.ts";

interface Row {
  readonly provider: string;
  readonly status: ProviderStatus;
}

/** Keeps the overrides of providers in the table `provider_overrides`. */
export function overridesOver(session: Session): ProviderOverrideStore {
  return {
    async all(organization) {
      const rows = await session.query<Row>(
        "SELECT provider, status FROM provider_overrides WHERE organization_id = $1 ORDER BY number",
        [organization],
      );
      return new Map(rows.map(({ provider, status }) => [fromText(provider), status]));
    },

    set: (organization, provider, status, seen) =>
      changeOf(session, organization, async (transaction) => {
        const [before] = await transaction.query<Row>(
          "SELECT status FROM provider_overrides WHERE organization_id = $1 AND provider = $2",
          [organization, toText(provider)],
        );
        seen?.(before?.status);
        await transaction.run(
          `INSERT INTO provider_overrides (organization_id, provider, status) VALUES ($1, $2, $3)
           ON CONFLICT (organization_id, provider) DO UPDATE SET status = excluded.status`,
          [organization, toText(provider), status],
        );
      }),

    lift: (organization, provider, seen) =>
      changeOf(session, organization, async (transaction) => {
        const [before] = await transaction.query<Row>(
          "DELETE FROM provider_overrides WHERE organization_id = $1 AND provider = $2 RETURNING status",
          [organization, toText(provider)],
        );
        if (before === undefined) return false;
        seen?.(before.status);
        return true;
      }),
  };
}
