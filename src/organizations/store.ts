import type { Awaitable } from "../core/caller.ts";
import type { Quota } from "../core/quota.ts";
import type { UserDraft } from "../users/draft.ts";
import type { Organization } from "./schema.ts";

/** An organization to be created. */
export interface OrganizationDraft {
  readonly name: string;
  /** If `undefined`, a unique slug is made from the name. */
  readonly slug: string | undefined;
  /** RFC 3339. */
  readonly created_at: string;
}

/** Keeps the organizations themselves. The default one always exists. */
export interface OrganizationStore {
  /** Every organization, oldest first. */
  list(): Awaitable<readonly Organization[]>;

  /** The number of organizations. */
  count(): Awaitable<number>;

  get(id: string): Awaitable<Organization | undefined>;

  /**
   * Creates an organization together with its first user, both or neither.
   *
   * @param quota checked with the number of organizations; without it there is no limit
   * @throws Conflict if the slug, or the user's email in any organization, is taken
   */
  create(draft: OrganizationDraft, admin: UserDraft, quota?: Quota): Promise<Organization>;

  /**
   * Renames an organization.
   *
   * @param updatedAt RFC 3339
   * @param seen called, before the change, with the organization as it was
   * @returns `undefined` if the organization does not exist
   */
  rename(
    id: string,
    name: string,
    updatedAt: string,
    seen?: (before: Organization) => void,
  ): Promise<Organization | undefined>;
}
