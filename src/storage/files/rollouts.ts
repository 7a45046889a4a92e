import type { Expected, OpenRollout } from "../../core/assignment.ts";
import { list, object, string } from "../../core/schema-parts.ts";
import { validate } from "../../core/validate.ts";
import { rollout as rolloutSchema, type Rollout } from "../../rollouts/schema.ts";
import { expectedOf, isOpen, openRolloutOf } from "../../rollouts/state.ts";
import { kept, refuseSecond, type OpenOf, type RolloutStore } from "../../rollouts/store.ts";
import { makeDurableDirectory } from "../directories.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import { readContent, readSnapshot, syncDirectory, writeSnapshot } from "../snapshot.ts";
import { UndoQueue } from "../undo-queue.ts";

const rolloutsFile = object({
  description: "The file of one organization.",
  optional: ["fetched"],
  properties: {
    organization_id: string("The organization."),
    rollouts: list("The rollouts, oldest first.", rolloutSchema),
    fetched: list(
      "The runtimes that have fetched the version of the open rollout.",
      string("A name."),
    ),
  },
});

/** The rollouts of an organization. */
interface Held {
  /** Oldest first; only the last one may be open. */
  readonly rollouts: readonly Rollout[];
  readonly open: OpenRollout | undefined;
  /** The runtimes that have fetched the version of the open rollout. */
  readonly fetched: ReadonlySet<string>;
}

const NONE: Held = { rollouts: [], open: undefined, fetched: new Set() };

/** Keeps each organization's rollouts in its `rollouts.json`, whose rename commits a change. */
export class FileRollouts implements RolloutStore {
  readonly #files: FileOperations;
  readonly #layout: Layout;
  readonly #activeVersion: (organization: string) => string;
  readonly changes = new UndoQueue();
  readonly #organizations = new Map<string, Held>();

  private constructor(
    files: FileOperations,
    layout: Layout,
    activeVersion: (organization: string) => string,
  ) {
    this.#files = files;
    this.#layout = layout;
    this.#activeVersion = activeVersion;
  }

  /**
   * Reads the rollouts of the given organizations: all that have any on disk.
   *
   * @throws Error naming the file and the way out if a file is damaged
   */
  static async open(
    files: FileOperations,
    layout: Layout,
    organizations: readonly string[],
    activeVersion: (organization: string) => string,
  ): Promise<FileRollouts> {
    const store = new FileRollouts(files, layout, activeVersion);
    for (const organization of organizations) await store.#load(organization);
    return store;
  }

  expected(organization: string): Expected {
    const { open, rollouts } = this.#of(organization);
    return expectedOf(this.#activeVersion(organization), rollouts.at(-1)?.base_version, open);
  }

  create(organization: string, rollout: Rollout): Promise<void> {
    return this.changes.run(async () => {
      const { rollouts } = this.#of(organization);
      refuseSecond(rollouts.at(-1));
      await this.#commit(organization, kept([...rollouts, rollout]), new Set());
    });
  }

  readonly update: RolloutStore["update"] = (organization, id, change) =>
    this.changes.run(async () => {
      const { rollouts, fetched } = this.#of(organization);
      const before = rollouts.find((one) => one.id === id);
      if (before === undefined) return undefined;
      const after = await change(before);
      const next = rollouts.map((one) => (one === before ? after : one));
      await this.#commit(organization, next, fetched);
      return after;
    });

  get(organization: string, id: string): Rollout | undefined {
    return this.#of(organization).rollouts.find((one) => one.id === id);
  }

  list(organization: string): readonly Rollout[] {
    return this.#of(organization).rollouts.toReversed();
  }

  open(): readonly OpenOf[] {
    return Array.from(this.#organizations, ([organization, { rollouts }]) => ({
      organization,
      rollout: rollouts.at(-1),
    })).filter((one): one is OpenOf => one.rollout !== undefined && isOpen(one.rollout));
  }

  fetched(organization: string, id: string): ReadonlySet<string> {
    const { open, fetched } = this.#of(organization);
    return open?.id === id ? fetched : NONE.fetched;
  }

  addFetched(organization: string, id: string, runtimes: readonly string[]): Promise<void> {
    return this.changes.run(async () => {
      const { rollouts, open, fetched } = this.#of(organization);
      const all = new Set([...fetched, ...runtimes]);
      if (open?.id !== id || all.size === fetched.size) return;
      await this.#commit(organization, rollouts, all);
    });
  }

  restore(organization: string, rollouts: readonly Rollout[]): Promise<void> {
    return this.changes.run(() => this.#commit(organization, rollouts, new Set()));
  }

  #of(organization: string): Held {
    return this.#organizations.get(organization) ?? NONE;
  }

  async #commit(
    organization: string,
    rollouts: readonly Rollout[],
    fetched: ReadonlySet<string>,
  ): Promise<void> {
    const before = this.#of(organization);
    const after = heldOf(rollouts, fetched, before);
    await this.changes.write(
      () => this.#write(organization, after),
      () => this.#write(organization, before),
    );
    this.#organizations.set(organization, after);
  }

  async #write(organization: string, { rollouts, fetched }: Held): Promise<void> {
    const { directory, rollouts: path } = this.#layout.organization(organization);
    await makeDurableDirectory(this.#files, directory, this.#layout.root);
    const names = fetched.size > 0 && { fetched: [...fetched] };
    await writeSnapshot(this.#files, path, { organization_id: organization, rollouts, ...names });
  }

  async #load(organization: string): Promise<void> {
    const { directory, rollouts: path } = this.#layout.organization(organization);
    const snapshot = await readSnapshot(this.#files, path);
    if (snapshot === undefined) return;
    // The last rename may not be on disk yet, and a step that is visible from now on must not be undone.
    await syncDirectory(this.#files, directory);
    const content = readContent(path, () => {
      const read = validate(rolloutsFile, snapshot);
      if (read.organization_id === organization) return read;
      throw new Error("organization_id: belongs to another organization");
    });
    const { rollouts, fetched = [] } = content;
    this.#organizations.set(organization, heldOf(rollouts as readonly Rollout[], new Set(fetched)));
  }
}

/** Keeps the same `open` object while the open rollout is the same. */
function heldOf(rollouts: readonly Rollout[], fetched: ReadonlySet<string>, before = NONE): Held {
  const last = rollouts.at(-1);
  const open =
    last !== undefined && last === before.rollouts.at(-1) ? before.open : openRolloutOf(last);
  return { rollouts, open, fetched: open === undefined ? NONE.fetched : fetched };
}
