/** Users, organizations, API keys, settings, overrides and activity in memory, each in its plainest form. */
import { entryLine } from "../../src/activity/entry-line.ts";
import { matcherOf, type ActivityFilter } from "../../src/activity/filter.ts";
import type { ActivityEntry } from "../../src/activity/schema.ts";
import type { ActivityRows, ActivityStore } from "../../src/activity/store.ts";
import { DEFAULT_ORGANIZATION } from "../../src/core/caller.ts";
import { checkQuota, type Quota } from "../../src/core/quota.ts";
import { formatTimestamp } from "../../src/core/time.ts";
import type { StoredKey } from "../../src/keys/schema.ts";
import { KEPT_REVOKED, type KeyStore } from "../../src/keys/store.ts";
import type { Organization } from "../../src/organizations/schema.ts";
import { freeSlug, slugTaken } from "../../src/organizations/slug.ts";
import type { OrganizationDraft, OrganizationStore } from "../../src/organizations/store.ts";
import type { ProviderStatus } from "../../src/providers/schema.ts";
import type { ProviderOverrideStore } from "../../src/providers/store.ts";
import type { Setting } from "../../src/settings/schema.ts";
import type { SettingsStore } from "../../src/settings/store.ts";
import type { UserDraft } from "../../src/users/draft.ts";
import { emailKey, emailTaken } from "../../src/users/email.ts";
import { checkAdminRemains } from "../../src/users/last-admin.ts";
import type { StoredUser } from "../../src/users/schema.ts";
import type { UserStore } from "../../src/users/store.ts";

export class MemoryUsers implements UserStore {
  #users: readonly StoredUser[] = [];

  list(organization: string): readonly StoredUser[] {
    return this.#users.filter((user) => user.organization_id === organization);
  }

  count(organization: string): number {
    return this.list(organization).length;
  }

  activeAdmins(organization: string): readonly StoredUser[] {
    return this.list(organization).filter((user) => user.active && user.role === "admin");
  }

  get(organization: string, id: string): StoredUser | undefined {
    return this.list(organization).find((user) => user.id === id);
  }

  findById(id: string): StoredUser | undefined {
    return this.#users.find((user) => user.id === id);
  }

  findByEmail(email: string): StoredUser | undefined {
    return this.#users.find((user) => emailKey(user.email) === emailKey(email));
  }

  async create(organization: string, user: StoredUser, quota?: Quota): Promise<void> {
    checkQuota(quota, this.count(organization));
    if (this.findByEmail(user.email)) throw emailTaken(user.email);
    this.#users = [...this.#users, { ...user, organization_id: organization }];
  }

  async change(
    organization: string,
    id: string,
    change: (user: StoredUser) => StoredUser,
  ): Promise<StoredUser | undefined> {
    const before = this.get(organization, id);
    if (!before) return undefined;
    const after = change(before);
    checkAdminRemains(this.activeAdmins(organization), before, after);
    this.#users = this.#users.map((user) => (user === before ? after : user));
    return after;
  }

  async remove(
    organization: string,
    id: string,
    seen?: (before: StoredUser) => void,
  ): Promise<boolean> {
    const user = this.get(organization, id);
    if (!user) return false;
    seen?.(user);
    checkAdminRemains(this.activeAdmins(organization), user, undefined);
    this.#users = this.#users.filter((other) => other !== user);
    return true;
  }
}

export class MemoryOrganizations implements OrganizationStore {
  readonly #users: MemoryUsers;
  readonly #records = new Map<string, Organization>();

  constructor(users: MemoryUsers, now: number) {
    this.#users = users;
    const at = formatTimestamp(now);
    this.#records.set(DEFAULT_ORGANIZATION, {
      ...{ id: DEFAULT_ORGANIZATION, name: "Default", slug: DEFAULT_ORGANIZATION },
      ...{ created_at: at, updated_at: at },
    });
  }

  list(): readonly Organization[] {
    return [...this.#records.values()];
  }

  count(): number {
    return this.#records.size;
  }

  get(id: string): Organization | undefined {
    return this.#records.get(id);
  }

  async create(draft: OrganizationDraft, admin: UserDraft, quota?: Quota): Promise<Organization> {
    checkQuota(quota, this.#records.size);
    const { name, created_at } = draft;
    const id = draft.slug ?? freeSlug(name, (slug) => this.#records.has(slug));
    if (this.#records.has(id)) throw slugTaken(id);
    if (this.#users.findByEmail(admin.email)) throw emailTaken(admin.email);
    const created = { id, name, slug: id, created_at, updated_at: created_at };
    this.#records.set(id, created);
    await this.#users.create(id, { ...admin, organization_id: id });
    return created;
  }

  async rename(
    id: string,
    name: string,
    updatedAt: string,
    seen?: (before: Organization) => void,
  ): Promise<Organization | undefined> {
    const before = this.#records.get(id);
    if (!before) return undefined;
    seen?.(before);
    const after = { ...before, name, updated_at: updatedAt };
    this.#records.set(id, after);
    return after;
  }
}

export class MemoryKeys implements KeyStore {
  /** Of all organizations, oldest first. */
  #keys: readonly StoredKey[] = [];

  list(organization: string): readonly StoredKey[] {
    return this.#keys.filter((key) => key.organization_id === organization).reverse();
  }

  findByHash(hash: string): StoredKey | undefined {
    return this.#keys.find((key) => key.hash === hash);
  }

  async create(organization: string, key: StoredKey, quota?: Quota): Promise<void> {
    const revoked = this.list(organization).filter((known) => known.revoked);
    checkQuota(quota, this.list(organization).length - revoked.length);
    const dropped = new Set(revoked.slice(KEPT_REVOKED));
    const kept = this.#keys.filter((known) => !dropped.has(known));
    this.#keys = [...kept, { ...key, organization_id: organization }];
  }

  async revoke(organization: string, id: string): Promise<StoredKey | undefined> {
    return this.#change(organization, id, { revoked: true });
  }

  touch(organization: string, id: string, now: number): void {
    this.#change(organization, id, { last_used_at: formatTimestamp(now) });
  }

  #change(organization: string, id: string, change: Partial<StoredKey>): StoredKey | undefined {
    const found = this.list(organization).find((key) => key.id === id);
    this.#keys = this.#keys.map((key) => (key === found ? { ...key, ...change } : key));
    return found;
  }
}

export class MemorySettings implements SettingsStore {
  readonly #settings = new Map<string, readonly Setting[]>();

  list(organization: string): readonly Setting[] {
    return this.#settings.get(organization) ?? [];
  }

  async replace(
    organization: string,
    settings: readonly Setting[],
    seen?: (before: readonly Setting[]) => void,
  ): Promise<void> {
    seen?.(this.list(organization));
    this.#settings.set(organization, settings);
  }
}

export class MemoryOverrides implements ProviderOverrideStore {
  readonly #overrides = new Map<string, Map<string, ProviderStatus>>();

  all(organization: string): ReadonlyMap<string, ProviderStatus> {
    return new Map(this.#overrides.get(organization));
  }

  async set(
    organization: string,
    provider: string,
    status: ProviderStatus,
    seen?: (before: ProviderStatus | undefined) => void,
  ): Promise<void> {
    const own = this.#overrides.get(organization) ?? new Map<string, ProviderStatus>();
    seen?.(own.get(provider));
    this.#overrides.set(organization, own.set(provider, status));
  }

  async lift(
    organization: string,
    provider: string,
    seen?: (before: ProviderStatus) => void,
  ): Promise<boolean> {
    const own = this.#overrides.get(organization);
    const before = own?.get(provider);
    if (before === undefined) return false;
    seen?.(before);
    return own?.delete(provider) ?? false;
  }
}

export class MemoryActivity implements ActivityStore {
  /** Lines of JSON, oldest first. */
  readonly #lines = new Map<string, readonly string[]>();

  async append(organization: string, entry: ActivityEntry): Promise<void> {
    this.#lines.set(organization, [...(this.#lines.get(organization) ?? []), entryLine(entry)]);
  }

  async retain(olderThanMs: number): Promise<void> {
    const since = formatTimestamp(olderThanMs);
    const isKept = (line: string, fromEnd: number): boolean =>
      fromEnd <= 10_000 || (JSON.parse(line) as ActivityEntry).timestamp >= since;
    for (const [organization, lines] of this.#lines) {
      this.#lines.set(
        organization,
        lines.filter((line, index) => isKept(line, lines.length - index)),
      );
    }
  }

  async page(
    organization: string,
    filter: ActivityFilter,
    limit: number,
    offset: number,
    signal?: AbortSignal,
  ): Promise<ActivityRows> {
    signal?.throwIfAborted();
    const fits = matcherOf(filter);
    const newestFirst = [...(this.#lines.get(organization) ?? [])].reverse();
    const found = newestFirst.filter((line) => fits(JSON.parse(line) as ActivityEntry));
    const rows = found.slice(offset, offset + limit);
    return { json: Buffer.from(rows.join(",")), returned: rows.length, total: found.length };
  }
}
