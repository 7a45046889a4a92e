import type { Awaitable } from "../core/caller.ts";
import type { Setting } from "./schema.ts";

/** Keeps the key-value pairs of every organization. */
export interface SettingsStore {
  /** The pairs of an organization, in the order they were given. */
  list(organization: string): Awaitable<readonly Setting[]>;

  /** Replaces all pairs of an organization. */
  replace(organization: string, settings: readonly Setting[]): Promise<void>;
}
