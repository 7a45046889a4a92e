import type { Awaitable } from "../core/caller.ts";
import type { Quota } from "../core/quota.ts";
import type { UserDraft } from "../users/draft.ts";
import type { Organization } from "./schema.ts";

/** An organization that is to be created. */
export interface OrganizationDraft {
  readonly name: string;
  /** Made from the name, and unique, when `undefined`. */
  readonly slug: string | undefined;
  /** RFC 3339. */
  readonly created_at: string;
}

/** Keeps the organizations themselves. The default one always exists. */
export interface OrganizationStore {
  /** Every organization, oldest first. */
  list(): Awaitable<readonly Organization[]>;

  get(id: string): Awaitable<Organization | undefined>;

  /**
   * Creates an organization together with its first user: both or neither.
   *
   * @param quota asked with the number of organizations; without one there is no limit
   * @throws Conflict when the slug, or the user's email in any organization, is taken
   */
  create(draft: OrganizationDraft, admin: UserDraft, quota?: Quota): Promise<Organization>;

  /**
   * Gives an organization another name.
   *
   * @param updatedAt RFC 3339
   * @param seen told, before the change, of the organization as it was
   * @returns `undefined` when there is no such organization
   */
  rename(
    id: string,
    name: string,
    updatedAt: string,
    seen?: (before: Organization) => void,
  ): Promise<Organization | undefined>;
}
