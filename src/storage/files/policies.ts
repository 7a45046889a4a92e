/**
 * Policies as files: every version's text in a file of its own, never changed, a record of the version beside
 * it, and an index that names the last version and the active one. A publish writes and syncs the text and
 * the record, then the directory, then replaces the index; the index's rename is the commit point. A file
 * that the index does not lead to does not count, and is overwritten if its version is published after all. A
 * failed publish is undone before the next change.
 */
import { join } from "node:path";
import type { Awaitable } from "../../core/caller.ts";
import { checkQuota, type Quota } from "../../core/quota.ts";
import { freeVersion, type PolicyDraft, publishedPolicy } from "../../policies/draft.ts";
import type { Policy } from "../../policies/schema.ts";
import type { PolicyStore, PolicyVersion } from "../../policies/store.ts";
import { listDirectory, makeDurableDirectory } from "../directories.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import { inParallel } from "../parallel.ts";
import { syncDirectory, TEMPORARY_SUFFIX } from "../snapshot.ts";
import { UndoQueue } from "../undo-queue.ts";
import { activated, PolicyRecords } from "./policy-index.ts";
import { digestOf, PolicyTexts } from "./policy-texts.ts";
import type { PolicyVersions } from "./policy-versions.ts";

const MAX_TEXT_BYTES = 64 << 20;

/** The state of an organization's policies. */
interface PolicyState {
  readonly versions: PolicyVersions;
  readonly records: PolicyRecords;
  /** The active version with its text: the same object until another one becomes active. */
  active: Policy | undefined;
}

/** Keeps policies in the data directory: metadata and the active texts in memory, the rest on disk. */
export class FilePolicies implements PolicyStore {
  readonly #files: FileOperations;
  readonly #layout: Layout;
  readonly #states = new Map<string, PolicyState>();
  readonly #loading = new Map<string, Promise<PolicyState>>();
  readonly #queues = new Map<string, UndoQueue>();
  readonly #texts: PolicyTexts;

  private constructor(files: FileOperations, layout: Layout, maxTextBytes: number) {
    this.#files = files;
    this.#layout = layout;
    this.#texts = new PolicyTexts(files, layout, maxTextBytes);
  }

  /**
   * Reads the policies of the given organizations; those of a later organization are read on first use.
   *
   * @param maxTextBytes the most bytes of inactive versions' texts in memory
   * @throws Error naming the file that is damaged, and the way out
   */
  static async open(
    files: FileOperations,
    layout: Layout,
    organizations: readonly string[],
    maxTextBytes = MAX_TEXT_BYTES,
  ): Promise<FilePolicies> {
    const store = new FilePolicies(files, layout, maxTextBytes);
    await inParallel(organizations, async (organization) => {
      await store.#load(organization);
    });
    return store;
  }

  /** The error of an organization's last change, until the change is undone. */
  get failure(): unknown {
    for (const { failure } of this.#queues.values()) if (failure !== undefined) return failure;
    return undefined;
  }

  /** Retries to undo the failed write. */
  recover(): void {
    for (const queue of this.#queues.values()) queue.recover();
  }

  /** Resolves when all pending changes have ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  publish(organization: string, draft: PolicyDraft, quota?: Quota): Promise<Policy> {
    return this.#change(organization, async (state) => {
      const { versions, records } = state;
      checkQuota(quota, versions.size);
      const version = freeVersion(draft, (name) => versions.has(name));
      const bytes = Buffer.from(draft.yaml, "utf8");
      const policy = publishedPolicy(organization, version, draft);
      const next = { policy, sha256: digestOf(bytes), bytes: bytes.length };
      await this.#queue(organization).write(
        async () => {
          await this.#makeDirectory(organization, state);
          await records.settle(versions);
          await this.#texts.write(organization, version, bytes);
          await records.add(next, versions.last);
          await records.writeIndex(next, version); // its rename commits the change
        },
        async () => {
          await this.#makeDirectory(organization, state);
          await records.writeIndex(versions.active, versions.last);
          await records.remove(next);
          await this.#texts.remove(organization, version);
        },
      );
      versions.add(next);
      return this.#adopt(organization, state, next, draft.yaml);
    });
  }

  activate(
    organization: string,
    version: string,
    at: string,
    by: string,
    seen?: (active: string) => void,
  ): Promise<Policy | undefined> {
    return this.#change(organization, async (state) => {
      const { versions, records } = state;
      seen?.(state.active?.version ?? "");
      const known = versions.get(version);
      if (!known || known.policy.active) return known && state.active;
      const yaml = await this.#textOf(organization, known);
      const next = activated(known, at, by);
      await this.#queue(organization).write(
        async () => {
          await records.settle(versions);
          await records.writeIndex(next, versions.last); // its rename commits the change
        },
        () => records.writeIndex(versions.active, versions.last),
      );
      return this.#adopt(organization, state, next, yaml);
    });
  }

  active(organization: string): Awaitable<Policy | undefined> {
    return this.#with(organization, (state) => state.active);
  }

  activeVersion(organization: string): Awaitable<string> {
    return this.#with(organization, (state) => state.active?.version ?? "");
  }

  get(organization: string, version: string): Awaitable<Policy | undefined> {
    return this.#with(organization, (state) => {
      const known = state.versions.get(version);
      if (!known || known.policy.active) return known && state.active;
      return andThen(this.#textOf(organization, known), (yaml) => whole(known, yaml));
    });
  }

  async list(organization: string): Promise<readonly Policy[]> {
    const policies: Policy[] = [];
    for (const version of await this.versions(organization)) {
      policies.push(whole(version, await this.#textOf(organization, version)));
    }
    return policies;
  }

  versions(organization: string): Awaitable<readonly PolicyVersion[]> {
    return this.#with(organization, ({ versions }) => versions.newestFirst());
  }

  text(organization: string, version: string): Awaitable<string | undefined> {
    return this.#with(organization, (state) => {
      const known = state.versions.get(version);
      return known && this.#textOf(organization, known);
    });
  }

  #with<T>(organization: string, read: (state: PolicyState) => Awaitable<T>): Awaitable<T> {
    const state = this.#states.get(organization);
    return state ? read(state) : this.#load(organization).then(read);
  }

  #load(organization: string): Promise<PolicyState> {
    let loading = this.#loading.get(organization);
    if (!loading) {
      loading = this.#read(organization).finally(() => this.#loading.delete(organization));
      this.#loading.set(organization, loading);
    }
    return loading;
  }

  async #read(organization: string): Promise<PolicyState> {
    const { policies } = this.#layout.organization(organization);
    const names = await listDirectory(this.#files, policies);
    for (const name of names) {
      // An index that was being written when the process ended; it does not count.
      if (name.endsWith(TEMPORARY_SUFFIX)) await this.#files.remove(join(policies, name));
    }
    // The last rename may be in memory only, and a version that is shown from now on must not disappear.
    if (names.length > 0) await syncDirectory(this.#files, policies);
    const records = new PolicyRecords(this.#files, this.#layout, organization);
    const { versions, isOld } = await records.read();
    if (isOld) await records.convert(versions);
    const { active } = versions;
    const state: PolicyState = {
      versions,
      records,
      active: active && whole(active, await this.#texts.of(organization, active)),
    };
    this.#states.set(organization, state);
    return state;
  }

  /** Runs a change after all earlier ones of the organization. */
  #change<T>(organization: string, change: (state: PolicyState) => Promise<T>): Promise<T> {
    return this.#queue(organization).run(async () =>
      change(this.#states.get(organization) ?? (await this.#load(organization))),
    );
  }

  #queue(organization: string): UndoQueue {
    let queue = this.#queues.get(organization);
    if (!queue) this.#queues.set(organization, (queue = new UndoQueue()));
    return queue;
  }

  async #makeDirectory(organization: string, { versions }: PolicyState): Promise<void> {
    if (versions.size > 0) return;
    const { policies } = this.#layout.organization(organization);
    await makeDurableDirectory(this.#files, policies, this.#layout.root);
  }

  /**
   * Makes a version the active one in memory; keeps the text of the previous one, which may be requested
   * again.
   */
  #adopt(organization: string, state: PolicyState, next: PolicyVersion, yaml: string): Policy {
    const { active, versions } = state;
    versions.activate(next);
    state.active = whole(versions.active as PolicyVersion, yaml);
    const before = active && versions.get(active.version);
    if (before) this.#texts.keep(organization, before, active.yaml);
    return state.active;
  }

  #textOf(organization: string, version: PolicyVersion): Awaitable<string> {
    const active = this.#states.get(organization)?.active;
    if (active?.version === version.policy.version) return active.yaml;
    return this.#texts.of(organization, version);
  }
}

function whole({ policy }: PolicyVersion, yaml: string): Policy {
  return Object.freeze({ ...policy, yaml });
}

function andThen<A, B>(value: Awaitable<A>, use: (value: A) => B): Awaitable<B> {
  return value instanceof Promise ? value.then(use) : use(value);
}
