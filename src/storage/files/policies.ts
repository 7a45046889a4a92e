/**
 * Policies as files: each version has a file with its text, which never changes, and a record beside it. An index
 * names the last version and the active one. A publish writes and syncs the text and the record, then the
 * directory, then replaces the index; the index's rename is the commit point. A file that the index does not lead
 * to does not count, and is overwritten if its version is published later. A failed publish is undone before the
 * next change.
 */
import { whenReady, type Awaitable } from "../../core/caller.ts";
import { checkQuota, type Quota } from "../../core/quota.ts";
import {
  freeVersion,
  type PolicyDraft,
  publishedPolicy,
  requireBase,
} from "../../policies/draft.ts";
import type { Policy } from "../../policies/schema.ts";
import type { PolicyStore, PolicyVersion } from "../../policies/store.ts";
import { listDirectory, makeDurableDirectory } from "../directories.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import { inParallel } from "../parallel.ts";
import { syncDirectory } from "../snapshot.ts";
import { UndoQueue } from "../undo-queue.ts";
import { activated, PolicyRecords } from "./policy-index.ts";
import { digestOf, PolicyTexts } from "./policy-texts.ts";
import { PolicyVersions } from "./policy-versions.ts";

const MAX_TEXT_BYTES = 64 << 20;

/** The policies of one organization. */
interface PolicyState {
  readonly organization: string;
  readonly changes: UndoQueue;
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
  readonly #texts: PolicyTexts;
  #isClosed = false;

  private constructor(files: FileOperations, layout: Layout, maxTextBytes: number) {
    this.#files = files;
    this.#layout = layout;
    this.#texts = new PolicyTexts(files, layout, maxTextBytes);
  }

  /**
   * Reads the policies of the given organizations: all that have any on disk.
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
    await inParallel(organizations, (organization) => store.#read(organization));
    return store;
  }

  /** The error of an organization's last change, until the change is undone. */
  get failure(): unknown {
    for (const { changes } of this.#states.values()) {
      if (changes.failure !== undefined) return changes.failure;
    }
    return undefined;
  }

  /** Retries to undo the failed write. */
  recover(): void {
    for (const { changes } of this.#states.values()) changes.recover();
  }

  /** Refuses further changes, and resolves when all pending ones have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#states.values(), ({ changes }) => changes.close()));
  }

  publish(
    organization: string,
    draft: PolicyDraft,
    quota?: Quota,
    seen?: (active: string) => void,
  ): Promise<Policy> {
    const state = this.#of(organization);
    const { changes, versions, records } = state;
    return changes.run(async () => {
      const active = state.active?.version ?? "";
      seen?.(active);
      requireBase(draft, active);
      const version = freeVersion(draft, (name) => versions.has(name));
      checkQuota(quota, versions.size);
      const bytes = Buffer.from(draft.yaml, "utf8");
      const policy = publishedPolicy(organization, version, draft);
      const next = { policy, sha256: digestOf(bytes), bytes: bytes.length };
      await changes.write(
        async () => {
          await this.#makeDirectory(state);
          if (draft.activates) await records.settle(versions);
          await this.#texts.write(organization, version, bytes);
          await records.add(next, versions.last);
          // Its rename commits the change.
          await records.writeIndex(draft.activates ? next : versions.active, version);
        },
        async () => {
          await this.#makeDirectory(state);
          await records.writeIndex(versions.active, versions.last);
          await records.remove(next);
          await this.#texts.remove(organization, version);
        },
      );
      versions.add(next);
      if (draft.activates) return this.#adopt(state, next, draft.yaml);
      this.#texts.keep(organization, next, draft.yaml);
      return wholeOf(next, draft.yaml);
    });
  }

  activate(
    organization: string,
    version: string,
    at: string,
    by: string,
    seen?: (active: string) => void,
  ): Promise<Policy | undefined> {
    const state = this.#of(organization);
    const { changes, versions, records } = state;
    return changes.run(async () => {
      seen?.(state.active?.version ?? "");
      const known = versions.get(version);
      if (!known || known.policy.active) return known && state.active;
      const yaml = await this.#texts.of(organization, known);
      const next = activated(known, at, by);
      await changes.write(
        async () => {
          await records.settle(versions);
          await records.writeIndex(next, versions.last); // its rename commits the change
        },
        () => records.writeIndex(versions.active, versions.last),
      );
      return this.#adopt(state, next, yaml);
    });
  }

  active(organization: string): Policy | undefined {
    return this.#of(organization).active;
  }

  activeVersion(organization: string): string {
    return this.active(organization)?.version ?? "";
  }

  get(organization: string, version: string): Awaitable<Policy | undefined> {
    const state = this.#of(organization);
    const known = state.versions.get(version);
    if (!known || known.policy.active) return known && state.active;
    return whenReady(this.#texts.of(organization, known), (yaml) => wholeOf(known, yaml));
  }

  texts(organization: string, versions: readonly PolicyVersion[]): Promise<readonly string[]> {
    const read = async ({ policy }: PolicyVersion) => this.get(organization, policy.version);
    return Promise.all(versions.map(async (version) => (await read(version))?.yaml ?? ""));
  }

  versions(organization: string): readonly PolicyVersion[] {
    return this.#of(organization).versions.newestFirst();
  }

  async #read(organization: string): Promise<void> {
    const { policies } = this.#layout.organization(organization);
    // The last rename may not be on disk yet, and a version that is visible from now on must not disappear.
    if ((await listDirectory(this.#files, policies)).length > 0) {
      await syncDirectory(this.#files, policies);
    }
    const records = new PolicyRecords(this.#files, this.#layout, organization);
    const { versions, isOld } = await records.read();
    if (isOld) await records.convert(versions);
    const { active } = versions;
    const whole = active && wholeOf(active, await this.#texts.of(organization, active));
    this.#add(organization, versions, whole);
  }

  /** All stored policies were read at start, so those of any other organization are new and empty. */
  #of(organization: string): PolicyState {
    return this.#states.get(organization) ?? this.#add(organization, new PolicyVersions());
  }

  #add(organization: string, versions: PolicyVersions, active?: Policy): PolicyState {
    const records = new PolicyRecords(this.#files, this.#layout, organization);
    const changes = new UndoQueue();
    if (this.#isClosed) void changes.close();
    const state = { organization, changes, versions, records, active };
    this.#states.set(organization, state);
    return state;
  }

  async #makeDirectory({ organization, versions }: PolicyState): Promise<void> {
    if (versions.size > 0) return;
    const { policies } = this.#layout.organization(organization);
    await makeDurableDirectory(this.#files, policies, this.#layout.root);
  }

  /**
   * Makes a version the active one in memory. Keeps the text of the previous version, which may be requested again.
   */
  #adopt(state: PolicyState, next: PolicyVersion, yaml: string): Policy {
    const { organization, active, versions } = state;
    versions.activate(next);
    state.active = wholeOf(versions.active as PolicyVersion, yaml);
    const before = active && versions.get(active.version);
    if (before) this.#texts.keep(organization, before, active.yaml);
    return state.active;
  }
}

function wholeOf({ policy }: PolicyVersion, yaml: string): Policy {
  return Object.freeze({ ...policy, yaml });
}
