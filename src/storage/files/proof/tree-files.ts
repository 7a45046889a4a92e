/**
 * The files of one tree: `hashes-0` holds the leaf of every event ever stored, `hashes-1` the hash of every 256
 * leaves, and so on, so a tile is a part of a file; `checkpoints.jsonl` holds every signed checkpoint, and
 * `position.json` the place in the log up to which its lines are leaves.
 */
import { join } from "node:path";
import { isObject } from "../../../core/validate.ts";
import { noteLine, readNote } from "../../../proof/checkpoint-lines.ts";
import type { NamedLog } from "../../../proof/log-name.ts";
import { HASH_BYTES } from "../../../proof/merkle.ts";
import type { TreeStore } from "../../../proof/signed-tree.ts";
import { TILE_WIDTH, type TileReader } from "../../../proof/tiles.ts";
import { makeDurableDirectory } from "../../directories.ts";
import { ifExists, type FileOperations } from "../../file-operations.ts";
import { readExactly, withFile, withFileIfAny, writeAll } from "../../file-ranges.ts";
import type { Layout } from "../../layout.ts";
import { endOfLastAppend, endOfLog } from "../../log-lines.ts";
import { damaged, readSnapshot, syncDirectory, writeSnapshot } from "../../snapshot.ts";
import type { FoundLine } from "./find-line.ts";

/** The bytes of a full tile. */
export const TILE_BYTES = TILE_WIDTH * HASH_BYTES;
/** A checkpoint is shorter than this, so the last one is in the last bytes of its file. */
const LAST_BYTES = 1 << 16;

/** The place in a log up to which its lines are leaves of the tree. */
export interface TreePosition {
  /** The number of leaves. */
  readonly size: number;
  /** The file of the last leaf, or the next file. */
  readonly file: string;
  /** The bytes of that file whose lines are leaves. */
  readonly offset: number;
  /** By file: the index of its first line. */
  readonly starts: Readonly<Record<string, number>>;
}

/** Reads and writes the files of the tree over one log. The caller serializes the writes. */
export class TreeFiles implements TreeStore<TreePosition> {
  readonly #files: FileOperations;
  readonly directory: string;
  readonly #root: string;

  constructor(files: FileOperations, layout: Layout, { organization, log }: NamedLog) {
    const { auditProof, activityProof } = layout.organization(organization);
    this.#files = files;
    this.directory = log === "audit" ? auditProof : activityProof;
    this.#root = layout.root;
  }

  get checkpoints(): string {
    return join(this.directory, "checkpoints.jsonl");
  }

  get position(): string {
    return join(this.directory, "position.json");
  }

  /** The file of a level's hashes. */
  hashes(level: number): string {
    return join(this.directory, `hashes-${level}`);
  }

  /** Reads the stored hashes of a tile, which may be fewer than 256; `undefined` if there are none. */
  readTile(level: number, index: number): Promise<Buffer | undefined> {
    return withFileIfAny(this.#files, this.hashes(level), async (descriptor, size) => {
      const whole = size - (size % HASH_BYTES);
      const length = Math.min(TILE_BYTES, whole - index * TILE_BYTES);
      return length > 0
        ? readExactly(this.#files, descriptor, index * TILE_BYTES, length)
        : undefined;
    });
  }

  /** Reads tiles for proofs and roots, which refuse one with too few hashes. */
  readonly tiles: TileReader = async (level, index) =>
    (await this.readTile(level, index)) ?? Buffer.alloc(0);

  /** Writes hashes of a level behind those that are there already, and syncs them. */
  async writeHashes(level: number, first: number, hashes: Uint8Array): Promise<void> {
    if (first === 0) await makeDurableDirectory(this.#files, this.directory, this.#root);
    await this.#write(this.hashes(level), hashes, first * HASH_BYTES);
  }

  /** @throws Error naming the file if it is damaged */
  async readPosition(): Promise<TreePosition | undefined> {
    const value = await readSnapshot(this.#files, this.position);
    if (value === undefined || isPosition(value)) return value;
    throw damaged(this.position, "it is not a position in a log");
  }

  async writePosition(position: TreePosition): Promise<void> {
    if (position.size === 0) await makeDurableDirectory(this.#files, this.directory, this.#root);
    await writeSnapshot(this.#files, this.position, position);
  }

  /** The last signed checkpoint, as a note. */
  async lastNote(): Promise<string | undefined> {
    const line = await withFileIfAny(this.#files, this.checkpoints, async (descriptor, size) => {
      const end = await endOfLastAppend(this.#files, descriptor, size);
      const start = Math.max(0, end - LAST_BYTES);
      const tail = await readExactly(this.#files, descriptor, start, end - start);
      return tail.toString("utf8").split("\n").at(-2);
    });
    if (line === undefined) return undefined;
    try {
      return readNote(line);
    } catch (error) {
      throw damaged(this.checkpoints, "its last line is not a checkpoint", error);
    }
  }

  /** Appends signed checkpoints; half a line that a crash has left is overwritten. */
  async appendNotes(notes: readonly string[]): Promise<void> {
    const size = (await ifExists(this.#files.stat(this.checkpoints)))?.size;
    const end = size === undefined ? 0 : await endOfLog(this.#files, this.checkpoints, size);
    if (size !== undefined && end < size) await this.#files.truncate(this.checkpoints, end);
    await this.#write(this.checkpoints, Buffer.from(notes.map(noteLine).join("")), end);
  }

  async #write(path: string, bytes: Uint8Array, position: number): Promise<void> {
    const isNew = (await ifExists(this.#files.stat(path))) === undefined;
    await withFile(this.#files, path, isNew ? "w" : "r+", async (descriptor) => {
      await writeAll(this.#files, descriptor, bytes, position, path);
      await this.#files.fsync(descriptor);
    });
    if (isNew) await syncDirectory(this.#files, this.directory);
  }
}

/** The index of a line, by its file and its number there; `undefined` if no line of the file is a leaf. */
export function leafOf(
  position: TreePosition | undefined,
  { file, at }: Pick<FoundLine, "file" | "at">,
): number | undefined {
  const start = position?.starts[file];
  return start === undefined ? undefined : start + at;
}

function isPosition(value: unknown): value is TreePosition {
  if (!isObject(value) || !isObject(value["starts"])) return false;
  const numbers = [value["size"], value["offset"], ...Object.values(value["starts"])];
  return typeof value["file"] === "string" && numbers.every((one) => Number.isSafeInteger(one));
}
