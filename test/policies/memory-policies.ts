import { freeVersion, type PolicyDraft, publishedPolicy } from "../../src/policies/draft.ts";
import type { Policy } from "../../src/policies/schema.ts";
import type { PolicyStore, PolicyVersion } from "../../src/policies/store.ts";

/** A policy store in its plainest form, for tests of what stands above it. One organization. */
export class MemoryPolicies implements PolicyStore {
  #policies: readonly Policy[] = [];

  async publish(organization: string, draft: PolicyDraft): Promise<Policy> {
    const taken = (name: string) => this.#policies.some(({ version }) => version === name);
    const fields = publishedPolicy(organization, freeVersion(draft, taken), draft);
    const published = { ...fields, yaml: draft.yaml };
    const others = this.#policies.map((policy) => ({ ...policy, active: false }));
    this.#policies = [published, ...others];
    return published;
  }

  async activate(_: string, name: string, at: string, by: string): Promise<Policy | undefined> {
    if (!this.get(_, name)) return undefined;
    const activation = { active: true, activated_at: at, activated_by: by };
    this.#policies = this.#policies.map((policy) =>
      policy.version === name ? { ...policy, ...activation } : { ...policy, active: false },
    );
    return this.get(_, name);
  }

  active(): Policy | undefined {
    return this.#policies.find(({ active }) => active);
  }

  activeVersion(): string {
    return this.active()?.version ?? "";
  }

  get(_: string, name: string): Policy | undefined {
    return this.#policies.find(({ version }) => version === name);
  }

  list(): readonly Policy[] {
    return this.#policies;
  }

  versions(): readonly PolicyVersion[] {
    return this.#policies.map(({ yaml, ...policy }) => ({
      policy,
      sha256: yaml,
      bytes: Buffer.byteLength(yaml),
    }));
  }

  text(_: string, name: string): string | undefined {
    return this.get(_, name)?.yaml;
  }
}
