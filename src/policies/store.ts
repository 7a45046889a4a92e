import type { Awaitable } from "../core/caller.ts";
import type { Quota } from "../core/quota.ts";
import type { PolicyDraft } from "./draft.ts";
import type { Policy } from "./schema.ts";

/** A policy version without its text, and the hash and length of the text. */
export interface PolicyVersion {
  readonly policy: Omit<Policy, "yaml">;
  /** SHA-256 of the text in UTF-8, in hexadecimal digits. */
  readonly sha256: string;
  /** The text's length in UTF-8. */
  readonly bytes: number;
}

/**
 * Keeps the policy versions of every organization. From the first activation on, exactly one version is
 * active at every moment. Methods answer synchronously unless something must be read.
 */
export interface PolicyStore {
  /**
   * Stores a version and, if the draft says so, makes it the active one in the same step. A generated name that is taken gets
   * a suffix.
   *
   * @param quota checked with the number of versions; without it there is no limit
   * @param seen called, before the change, with the active version; `""` if there is none
   * @throws Conflict if a version of the given name exists, or the draft's base is not the active version
   */
  publish(
    organization: string,
    draft: PolicyDraft,
    quota?: Quota,
    seen?: (active: string) => void,
  ): Promise<Policy>;

  /**
   * Makes a stored version the active one; does nothing if it is active already.
   *
   * @param at RFC 3339; becomes `activated_at`, as `by` becomes `activated_by`
   * @param seen called, before the change, with the active version; `""` if there is none
   * @returns the version, or `undefined` if no version has that name
   */
  activate(
    organization: string,
    version: string,
    at: string,
    by: string,
    seen?: (active: string) => void,
  ): Promise<Policy | undefined>;

  /**
   * The active version. It has changed if its `version` or `activated_at` has changed. A store should
   * return the same object for the same version: its response is then made only once.
   */
  active(organization: string): Awaitable<Policy | undefined>;

  /** The active version's name, `""` if none is active. */
  activeVersion(organization: string): Awaitable<string>;

  get(organization: string, version: string): Awaitable<Policy | undefined>;

  /** The texts of some versions of the list, in the same order. The caller bounds their number and their bytes. */
  texts(organization: string, versions: readonly PolicyVersion[]): Awaitable<readonly string[]>;

  /** All versions without their texts, newest first: by `updated_at`, then by order of publishing. */
  versions(organization: string): Awaitable<readonly PolicyVersion[]>;
}
