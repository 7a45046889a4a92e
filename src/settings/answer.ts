import type { AuditUsage } from "../audit/store.ts";
import { formatTimestamp } from "../core/time.ts";
import type { Setting, Settings } from "./schema.ts";

/** The deployment's settings that organizations may see. */
export interface SettingsConfig {
  readonly edition: string;
  readonly requireAuth: () => boolean;
  readonly jwtExpiryHours: number;
}

/** Joins an organization's pairs with the deployment's settings and the size of its events. */
export function settingsAnswer(
  organization: string,
  pairs: readonly Setting[],
  { events, bytes, oldest }: AuditUsage,
  { edition, requireAuth, jwtExpiryHours }: SettingsConfig,
): Settings {
  return {
    edition,
    organization_id: organization,
    auth: {
      require_auth: requireAuth(),
      api_keys_accepted: true,
      token_lifetime_hours: jwtExpiryHours,
    },
    settings: pairs,
    audit: { events, bytes, oldest: oldest === undefined ? undefined : formatTimestamp(oldest) },
  };
}
