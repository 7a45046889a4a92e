import { list, object, string } from "../../core/schema-parts.ts";
import type { Infer } from "../../core/schema.ts";
import { validate } from "../../core/validate.ts";
import { providerOverride, type ProviderStatus } from "../../providers/schema.ts";
import type { ProviderOverrideStore } from "../../providers/store.ts";
import type { FileOperations } from "../file-operations.ts";
import { makeDurableDirectory } from "../directories.ts";
import type { Layout } from "../layout.ts";
import { readContent, readSnapshot, writeSnapshot } from "../snapshot.ts";
import { UndoQueue } from "../undo-queue.ts";

const override = object({
  description: "A status that an organization set.",
  properties: {
    organization_id: string("The organization that set it."),
    id: string("The provider's id."),
    status: providerOverride.properties.status,
  },
});
const providersFile = object({
  description: "The file of one organization.",
  properties: { providers: list("The overrides.", override) },
});

type Overrides = ReadonlyMap<string, ProviderStatus>;

const NONE: Overrides = new Map();

/** Keeps each organization's overrides in its `providers.json`, whose rename commits a change. */
export class FileProviderOverrides implements ProviderOverrideStore {
  readonly #files: FileOperations;
  readonly #layout: Layout;
  readonly changes = new UndoQueue();
  readonly #organizations = new Map<string, Overrides>();

  private constructor(files: FileOperations, layout: Layout) {
    this.#files = files;
    this.#layout = layout;
  }

  /**
   * Reads the overrides of the given organizations: all that have any on disk.
   *
   * @throws Error naming the file and the way out if a file is damaged
   */
  static async open(
    files: FileOperations,
    layout: Layout,
    organizations: readonly string[],
  ): Promise<FileProviderOverrides> {
    const store = new FileProviderOverrides(files, layout);
    for (const organization of organizations) await store.#load(organization);
    return store;
  }

  all(organization: string): Overrides {
    return this.#organizations.get(organization) ?? NONE;
  }

  readonly set: ProviderOverrideStore["set"] = (organization, provider, status, seen) =>
    this.changes.run(() => {
      const overrides = this.all(organization);
      seen?.(overrides.get(provider));
      return this.#commit(organization, new Map([...overrides, [provider, status]]));
    });

  readonly lift: ProviderOverrideStore["lift"] = (organization, provider, seen) =>
    this.changes.run(async () => {
      const overrides = new Map(this.all(organization));
      const before = overrides.get(provider);
      if (before === undefined) return false;
      seen?.(before);
      overrides.delete(provider);
      await this.#commit(organization, overrides);
      return true;
    });

  async #commit(organization: string, overrides: Overrides): Promise<void> {
    const before = this.all(organization);
    await this.changes.write(
      () => this.#write(organization, overrides),
      () => this.#write(organization, before),
    );
    this.#organizations.set(organization, overrides);
  }

  async #write(organization: string, overrides: Overrides): Promise<void> {
    const { directory, providers: path } = this.#layout.organization(organization);
    await makeDurableDirectory(this.#files, directory, this.#layout.root);
    const rows = Array.from(overrides, ([id, status]) => {
      return { organization_id: organization, id, status };
    });
    const content: Infer<typeof providersFile> = { providers: rows };
    await writeSnapshot(this.#files, path, content);
  }

  async #load(organization: string): Promise<void> {
    const { providers: path } = this.#layout.organization(organization);
    const snapshot = await readSnapshot(this.#files, path);
    if (snapshot === undefined) return;
    const { providers } = readContent(path, () => validate(providersFile, snapshot));
    this.#organizations.set(organization, new Map(providers.map((row) => [row.id, row.status])));
  }
}
