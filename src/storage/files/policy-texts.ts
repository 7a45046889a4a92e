import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Awaitable } from "../../core/caller.ts";
import type { PolicyVersion } from "../../policies/store.ts";
import { ByteCache } from "./byte-cache.ts";
import type { FileOperations } from "../file-operations.ts";
import { type Layout, policyFileName } from "../layout.ts";
import { readFileIfAny, writeWhole } from "../snapshot.ts";

/**
 * The texts of policy versions, one file each. The most recently used texts stay in memory, up to a number of
 * bytes over all organizations.
 */
export class PolicyTexts {
  readonly #files: FileOperations;
  readonly #layout: Layout;
  readonly #kept: ByteCache<string>;

  constructor(files: FileOperations, layout: Layout, maxBytes: number) {
    this.#files = files;
    this.#layout = layout;
    this.#kept = new ByteCache(maxBytes);
  }

  /** Writes a text and syncs it; the directory that names its file is not synced yet. */
  async write(organization: string, version: string, bytes: Uint8Array): Promise<void> {
    await writeWhole(this.#files, this.#path(organization, version), bytes);
  }

  /** Removes a text that no index names, to free its space; a failure does no harm. */
  async remove(organization: string, version: string): Promise<void> {
    await this.#files.remove(this.#path(organization, version));
  }

  /** The text of a version, at once if it is in memory. */
  of(organization: string, version: PolicyVersion): Awaitable<string> {
    return this.#kept.get(keyOf(organization, version)) ?? this.#read(organization, version);
  }

  /** Keeps a text in memory, and drops the least recently used ones to make room. */
  keep(organization: string, version: PolicyVersion, text: string): void {
    this.#kept.keep(keyOf(organization, version), text, version.bytes);
  }

  async #read(organization: string, version: PolicyVersion): Promise<string> {
    const path = this.#path(organization, version.policy.version);
    const bytes = await readFileIfAny(this.#files, path);
    if (!bytes || digestOf(bytes) !== version.sha256) {
      const fault = bytes ? "it is not the text that was published" : "it is missing";
      throw new Error(`${path} is damaged (${fault}): restore it from a backup`);
    }
    const text = bytes.toString("utf8");
    this.keep(organization, version, text);
    return text;
  }

  #path(organization: string, version: string): string {
    return join(this.#layout.organization(organization).policies, policyFileName(version));
  }
}

/** The identity of a text: its SHA-256 in hexadecimal digits. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function keyOf(organization: string, { policy }: PolicyVersion): string {
  return `${organization}/${policy.version}`; // an organization's id has no slash
}
