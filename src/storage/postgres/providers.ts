import type { ProviderStatus } from "../../providers/schema.ts";
import type { ProviderOverrideStore } from "../../providers/store.ts";
import { lockOrganization } from "./lock-organization.ts";
import type { Session } from "./session.ts";
import { fromText, toText } from "./text.ts";

interface Row {
  readonly provider: string;
  readonly status: ProviderStatus;
}

/** Keeps the overrides of providers in the table `provider_overrides`. */
export class PostgresProviderOverrides implements ProviderOverrideStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async all(organization: string): Promise<ReadonlyMap<string, ProviderStatus>> {
    const rows = await this.#session.query<Row>(
      "SELECT provider, status FROM provider_overrides WHERE organization_id = $1 ORDER BY number",
      [organization],
    );
    return new Map(rows.map(({ provider, status }) => [fromText(provider), status]));
  }

  readonly set: ProviderOverrideStore["set"] = (organization, provider, status, seen) =>
    this.#session.change(async (transaction) => {
      await lockOrganization(transaction, organization);
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
    });

  lift(organization: string, provider: string): Promise<boolean> {
    return this.#session.change(async (transaction) => {
      await lockOrganization(transaction, organization);
      const lifted = await transaction.run(
        "DELETE FROM provider_overrides WHERE organization_id = $1 AND provider = $2",
        [organization, toText(provider)],
      );
      return lifted === 1;
    });
  }
}
