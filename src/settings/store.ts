import type { Awaitable } from "../core/caller.ts";
import type { Setting } from "./schema.ts";

/** Keeps the key-value pairs of every organization. */
export interface SettingsStore {
  /** The pairs of an organization, in the order of the request that set them. */
  list(organization: string): Awaitable<readonly Setting[]>;

  /**
   * Replaces all pairs of an organization.
   *
   * @param seen called, before the change, with the pairs that are replaced
   */
  replace(
    organization: string,
    settings: readonly Setting[],
    seen?: (before: readonly Setting[]) => void,
  ): Promise<void>;
}
