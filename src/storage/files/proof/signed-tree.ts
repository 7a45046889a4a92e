/**
 * The tree over one log, and its signed checkpoints. It follows the log from its files, after the lines are
 * acknowledged, so that storing an event costs nothing more.
 *
 * Invariant: the order is lines, hashes, position, checkpoint, each synced before the next. A crash between two
 * of them leaves a tree that goes on from its position, and whose root at the size of every signed checkpoint is
 * the signed one. A tree for which this does not hold signs nothing.
 */
import { nextTurn } from "../../../core/timers.ts";
import {
  checkpointOf,
  firstLine,
  firstOf,
  formatCheckpoint,
  openCheckpoint,
} from "../../../proof/checkpoint.ts";
import { UnknownSigner } from "../../../proof/errors.ts";
import { GrowingTree } from "../../../proof/growing-tree.ts";
import { HASH_BYTES, writeLeafHash } from "../../../proof/merkle.ts";
import { signNote, verifierOf, type Signer } from "../../../proof/note.ts";
import { rootFromTiles, TILE_WIDTH } from "../../../proof/tiles.ts";
import type { FileOperations } from "../../file-operations.ts";
import { eachLine, readExactly } from "../../log-lines.ts";
import type { LogPart } from "./log-sources.ts";
import type { TreeFiles, TreePosition } from "./tree-files.ts";

/** The log is not the one that was signed, so nothing more is signed. */
export class Contradiction extends Error {}

const READ_BYTES = 256 << 10;
const LEAVES_AT_ONCE = 16_384;
const NEWLINE = 0x0a;

/** The hashes of one level that are not written yet, and the number of those that are. */
interface PendingHashes {
  written: number;
  readonly hashes: Buffer[];
}

/** One tree. The caller serializes the calls. */
export class SignedTree {
  readonly #files: FileOperations;
  readonly #own: TreeFiles;
  readonly #signer: Signer;
  readonly #tree: GrowingTree;
  /** By level. */
  readonly #pending: PendingHashes[];
  #position: TreePosition | undefined;
  #note: string | undefined;
  #signed: { readonly size: number; readonly first: number } | undefined;

  private constructor(
    files: FileOperations,
    own: TreeFiles,
    signer: Signer,
    tree: GrowingTree,
    pending: PendingHashes[],
  ) {
    this.#files = files;
    this.#own = own;
    this.#signer = signer;
    this.#tree = tree;
    this.#pending = pending;
  }

  /**
   * Opens a tree.
   *
   * @throws Contradiction if its hashes are not those of its last checkpoint
   */
  static async open(files: FileOperations, own: TreeFiles, signer: Signer): Promise<SignedTree> {
    const position = await own.readPosition();
    const note = await own.lastNote();
    const size = position?.size ?? 0;
    const pending: PendingHashes[] = [];
    for (let level = 0; level === 0 || TILE_WIDTH ** level <= size; level++) {
      pending.push({ written: Math.floor(size / TILE_WIDTH ** level), hashes: [] });
    }
    const take = (level: number, hash: Buffer): void => {
      (pending[level] ??= { written: 0, hashes: [] }).hashes.push(hash);
    };
    const tree = await GrowingTree.resume(size, own.tiles, take).catch((error: unknown) => {
      throw new Contradiction("its hashes are damaged", { cause: error });
    });
    const opened = new SignedTree(files, own, signer, tree, pending);
    opened.#position = position;
    if (note !== undefined) await opened.#accept(note);
    return opened;
  }

  /** The last signed checkpoint, and the number of its leaves. */
  get checkpoint(): { readonly note: string; readonly size: number } | undefined {
    return this.#note === undefined
      ? undefined
      : { note: this.#note, size: this.#signed?.size ?? 0 };
  }

  /**
   * Adds the lines that the log has got since, and signs a checkpoint if the tree has changed.
   *
   * @returns the new checkpoint; `undefined` if nothing has changed
   * @throws Contradiction if the log is shorter than before
   */
  async follow(parts: readonly LogPart[]): Promise<string | undefined> {
    const [oldest] = parts;
    if (oldest === undefined && this.#position === undefined) return undefined;
    if (this.#position === undefined) await this.#own.make();
    const { file, offset, starts } = this.#position ?? {
      ...{ file: oldest?.name ?? "", offset: 0, starts: {} },
    };
    const at = parts.findIndex(({ name }) => name === file);
    const known = parts[at];
    if (known === undefined) throw new Contradiction(`${file} is missing, which was signed`);
    if (known.end < offset) throw new Contradiction(`${file} is shorter than when it was signed`);
    const kept = new Map(Object.entries(starts).filter(([name]) => isIn(parts, name)));
    let last = { file, offset };
    for (const part of parts.slice(at)) {
      if (!kept.has(part.name)) kept.set(part.name, this.#tree.size);
      await this.#read(part, part === known ? offset : 0);
      last = { file: part.name, offset: part.end };
    }
    await this.#flush();
    return this.#sign({ size: this.#tree.size, ...last, starts: Object.fromEntries(kept) });
  }

  /** Commits a position, and signs a checkpoint of it, if either is new. */
  async #sign(position: TreePosition): Promise<string | undefined> {
    const first = Math.min(position.size, ...Object.values(position.starts));
    if (JSON.stringify(position) !== JSON.stringify(this.#position)) {
      await this.#own.writePosition(position);
      this.#position = position;
    }
    const { size } = position;
    if (this.#signed?.size === size && this.#signed.first === first) return undefined;
    const extensions = first > 0 ? [firstLine(first)] : [];
    const origin = this.#signer.name;
    const text = formatCheckpoint({ origin, size, root: this.#tree.root(), extensions });
    const note = signNote(text, [this.#signer]);
    await this.#own.appendNote(note);
    this.#note = note;
    this.#signed = { size, first };
    return note;
  }

  /** Makes leaves of the lines of a file from an offset on, which are synced first. */
  async #read({ path, end }: LogPart, offset: number): Promise<void> {
    if (offset === end) return;
    const descriptor = await this.#files.open(path, "r");
    try {
      await this.#files.fsync(descriptor); // they may be acknowledged before they are on disk
      for (let at = offset, bytes = READ_BYTES; at < end;) {
        const read = await readExactly(this.#files, descriptor, at, Math.min(bytes, end - at));
        const whole = at + read.length === end ? read.length : read.lastIndexOf(NEWLINE) + 1;
        if (whole === 0) {
          bytes *= 2; // a line that is longer
          continue;
        }
        eachLine(Buffer.from(read.subarray(0, whole)), at, (line) => this.#add(line));
        at += whole;
        bytes = READ_BYTES;
        if ((this.#pending[0]?.hashes.length ?? 0) > LEAVES_AT_ONCE) await this.#flush();
        await nextTurn();
      }
    } finally {
      await this.#files.close(descriptor);
    }
  }

  #add(line: Buffer): void {
    if (line[0] === 0) return; // a hole never was a line
    const leaf = Buffer.allocUnsafe(HASH_BYTES);
    writeLeafHash(line, leaf, 0);
    this.#tree.append(leaf);
    this.#pending[0]?.hashes.push(leaf);
  }

  async #flush(): Promise<void> {
    for (const [level, pending] of this.#pending.entries()) {
      const hashes = pending.hashes.splice(0);
      if (hashes.length === 0) continue;
      await this.#own.writeHashes(level, pending.written, Buffer.concat(hashes));
      pending.written += hashes.length;
    }
  }

  /**
   * Takes the last checkpoint over, if the tree had its root at its size. One of another key, as in a restored
   * backup, is compared too, and then signed anew.
   */
  async #accept(note: string): Promise<void> {
    const checkpoint = checkpointOf(note);
    const { origin, size, root } = checkpoint;
    const isRight =
      size <= this.#tree.size && (await rootFromTiles(size, this.#own.tiles)).equals(root);
    if (!isRight) throw new Contradiction("its hashes are not those of its last checkpoint");
    try {
      openCheckpoint(note, [verifierOf(origin, this.#signer.key)]);
    } catch (error) {
      if (error instanceof UnknownSigner) return;
      throw new Contradiction("its last checkpoint was changed", { cause: error });
    }
    this.#signed = { size, first: firstOf(checkpoint) };
    this.#note = note;
  }
}

function isIn(parts: readonly LogPart[], name: string): boolean {
  return parts.some((part) => part.name === name);
}
