import type { Awaitable } from "../core/caller.ts";
import type { ProviderStatus } from "./schema.ts";

/** Keeps the statuses that organizations set for providers. */
export interface ProviderOverrideStore {
  /** All overrides of an organization, by the provider's id. */
  all(organization: string): Awaitable<ReadonlyMap<string, ProviderStatus>>;

  /**
   * Sets a provider's status, durably; an earlier override is replaced.
   *
   * @param seen called, before the change, with the earlier override
   */
  set(
    organization: string,
    provider: string,
    status: ProviderStatus,
    seen?: (before: ProviderStatus | undefined) => void,
  ): Promise<void>;

  /**
   * Removes an override, durably; `false` if there is none.
   *
   * @param seen called with the override that is removed
   */
  lift(
    organization: string,
    provider: string,
    seen?: (before: ProviderStatus) => void,
  ): Promise<boolean>;
}
