import { isObject } from "../../core/validate.ts";
import type { Setting } from "../../settings/schema.ts";
import type { SettingsStore } from "../../settings/store.ts";
import { settingsUpdateBody } from "../../settings/update.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import { inParallel } from "../parallel.ts";
import {
  damaged,
  readContent,
  readFileIfAny,
  readSnapshot,
  replaceFile,
  writeSnapshot,
} from "../snapshot.ts";
import { UndoQueue } from "../undo-queue.ts";

/**
 * Keeps settings in each organization's `settings.json`, whose rename commits a change. They are read rarely
 * and may be large, so nothing is held in memory: each query reads the file.
 */
export class FileSettings implements SettingsStore {
  readonly #files: FileOperations;
  readonly #layout: Layout;
  readonly changes = new UndoQueue();

  constructor(files: FileOperations, layout: Layout) {
    this.#files = files;
    this.#layout = layout;
  }

  /**
   * Reads the settings of the given organizations, so that a damaged file is found at start.
   *
   * @throws Error naming the file that is damaged, and the way out
   */
  async check(organizations: readonly string[]): Promise<void> {
    await inParallel(organizations, async (organization) => void (await this.list(organization)));
  }

  /** @throws Error naming the file and the way out if it is damaged */
  async list(organization: string): Promise<readonly Setting[]> {
    const path = this.#layout.organization(organization).settings;
    const snapshot = await readSnapshot(this.#files, path);
    if (snapshot === undefined) return [];
    if (!isObject(snapshot) || snapshot["organization_id"] !== organization) {
      throw damaged(path, "organization_id: belongs to another organization");
    }
    return readContent(path, () => settingsUpdateBody.read(snapshot));
  }

  replace(
    organization: string,
    settings: readonly Setting[],
    seen?: (before: readonly Setting[]) => void,
  ): Promise<void> {
    const path = this.#layout.organization(organization).settings;
    const snapshot = { organization_id: organization, settings };
    return this.changes.run(async () => {
      if (seen) seen(await this.list(organization));
      const before = await readFileIfAny(this.#files, path);
      await this.changes.write(
        () => writeSnapshot(this.#files, path, snapshot),
        () =>
          before
            ? replaceFile(this.#files, path, before)
            : writeSnapshot(this.#files, path, { organization_id: organization, settings: [] }),
      );
    });
  }
}
