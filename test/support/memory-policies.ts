import { createHash } from "node:crypto";
import { checkQuota, type Quota } from "../../src/core/quota.ts";
import {
  freeVersion,
  type PolicyDraft,
  publishedPolicy,
  requireBase,
} from "../../src/policies/draft.ts";
import type { Policy } from "../../src/policies/schema.ts";
import type { PolicyStore, PolicyVersion } from "../../src/policies/store.ts";

/** A policy store in its plainest form. */
export class MemoryPolicies implements PolicyStore {
  /** In the order of publishing, newest first. */
  readonly #policies = new Map<string, readonly Policy[]>();

  async publish(
    organization: string,
    draft: PolicyDraft,
    quota?: Quota,
    seen?: (active: string) => void,
  ): Promise<Policy> {
    const own = this.#own(organization);
    seen?.(this.activeVersion(organization));
    requireBase(draft, this.activeVersion(organization));
    const version = freeVersion(draft, (name) => own.some((policy) => policy.version === name));
    checkQuota(quota, own.length);
    const published = { ...publishedPolicy(organization, version, draft), yaml: draft.yaml };
    const others = draft.activates ? own.map((policy) => ({ ...policy, active: false })) : own;
    this.#policies.set(organization, [published, ...others]);
    return published;
  }

  async activate(
    organization: string,
    version: string,
    at: string,
    by: string,
    seen?: (active: string) => void,
  ): Promise<Policy | undefined> {
    seen?.(this.activeVersion(organization));
    const known = this.get(organization, version);
    if (!known || known.active) return known;
    const activation = { active: true, activated_at: at, activated_by: by };
    const changed = this.#own(organization).map((policy) =>
      policy === known ? { ...policy, ...activation } : { ...policy, active: false },
    );
    this.#policies.set(organization, changed);
    return this.get(organization, version);
  }

  active(organization: string): Policy | undefined {
    return this.#own(organization).find(({ active }) => active);
  }

  activeVersion(organization: string): string {
    return this.active(organization)?.version ?? "";
  }

  get(organization: string, version: string): Policy | undefined {
    return this.#own(organization).find((policy) => policy.version === version);
  }

  list(organization: string): readonly Policy[] {
    return this.#own(organization).toSorted((a, b) =>
      a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0,
    );
  }

  texts(organization: string, versions: readonly PolicyVersion[]): readonly string[] {
    return versions.map(({ policy }) => this.get(organization, policy.version)?.yaml ?? "");
  }

  versions(organization: string): readonly PolicyVersion[] {
    return this.list(organization).map(({ yaml, ...policy }) => ({
      policy,
      sha256: createHash("sha256").update(yaml).digest("hex"),
      bytes: Buffer.byteLength(yaml),
    }));
  }

  #own(organization: string): readonly Policy[] {
    return this.#policies.get(organization) ?? [];
  }
}
