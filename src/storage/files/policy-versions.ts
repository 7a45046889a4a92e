import type { PolicyVersion } from "../../policies/store.ts";

/**
 * An organization's policy versions. A change costs the same however many there are: only the list is made
 * again, on its next use.
 */
export class PolicyVersions {
  readonly #byName = new Map<string, PolicyVersion>();
  /** The previous version of each version except the first. */
  readonly #previous = new Map<string, string>();
  /** Names by `updated_at`, and then in the order of publishing. */
  readonly #oldestFirst: string[] = [];
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

  previous(name: string): string | undefined {
    return this.#previous.get(name);
  }

  /** All versions, by `updated_at` and then by order of publishing; the same list until a change. */
  newestFirst(): readonly PolicyVersion[] {
    this.#newestFirst ??= this.#oldestFirst
      .toReversed()
      .map((name) => this.#byName.get(name) as PolicyVersion);
    return this.#newestFirst;
  }

  /** Adds the version that was published last, which is not active yet. */
  add(version: PolicyVersion): void {
    const { version: name, updated_at: time } = version.policy;
    if (this.#last !== undefined) this.#previous.set(name, this.#last);
    this.#last = name;
    this.#put(version, false);
    let at = this.#oldestFirst.length; // the clock may have been set back
    while (at > 0 && this.#timeOf(this.#oldestFirst[at - 1] as string) > time) at--;
    this.#oldestFirst.splice(at, 0, name);
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

  #timeOf(name: string): string {
    return this.#byName.get(name)?.policy.updated_at ?? ""; // times of one format sort as texts
  }
}
