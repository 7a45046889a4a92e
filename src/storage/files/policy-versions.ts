import { compareTexts } from "../../core/compare-texts.ts";
import type { PolicyVersion } from "../../policies/store.ts";

/** An organization's policy versions. */
export class PolicyVersions {
  /** The versions in the order of publishing. */
  readonly #byName = new Map<string, PolicyVersion>();
  #newestFirst: readonly PolicyVersion[] | undefined;
  #active: string | undefined;
  #last: string | undefined;

  get size(): number {
    return this.#byName.size;
  }

  get active(): PolicyVersion | undefined {
    return this.#active === undefined ? undefined : this.#byName.get(this.#active);
  }

  /** The version that was published last. */
  get last(): string | undefined {
    return this.#last;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  get(name: string): PolicyVersion | undefined {
    return this.#byName.get(name);
  }

  /** The version that was published before another one. */
  previous(name: string): string | undefined {
    let before: string | undefined;
    for (const known of this.#byName.keys()) {
      if (known === name) break;
      before = known;
    }
    return before;
  }

  /** All versions, by `updated_at` and then by order of publishing; the same list until a change. */
  newestFirst(): readonly PolicyVersion[] {
    // The clock may have been set back between two versions.
    this.#newestFirst ??= [...this.#byName.values()]
      .reverse()
      .sort(({ policy: a }, { policy: b }) => compareTexts(b.updated_at, a.updated_at));
    return this.#newestFirst;
  }

  /** Adds the version that was published last, which is not active yet. */
  add(version: PolicyVersion): void {
    this.#last = version.policy.version;
    this.#put(version, false);
  }

  /** Makes a version the active one, and replaces its data by the given one. */
  activate(version: PolicyVersion): void {
    if (this.active) this.#put(this.active, false);
    this.#active = version.policy.version;
    this.#put(version, true);
  }

  #put(version: PolicyVersion, active: boolean): void {
    const policy = Object.freeze({ ...version.policy, active });
    this.#byName.set(policy.version, { ...version, policy });
    this.#newestFirst = undefined;
  }
}
