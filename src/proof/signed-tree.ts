/**
 * The tree over one log, and its signed checkpoints. It follows the log after the lines are acknowledged, so that
 * storing an event costs nothing more.
 *
 * Invariant: the order is lines, hashes, position, checkpoint, each durable before the next. A crash between two
 * of them leaves a tree that goes on from its position, and whose root at the size of every signed checkpoint is
 * the signed one. A tree for which this does not hold signs nothing.
 */
import type { KeyObject } from "node:crypto";
import { checkpointOf, firstLine, firstOf, formatCheckpoint } from "./checkpoint.ts";
import { UnknownSigner } from "./errors.ts";
import { GrowingTree } from "./growing-tree.ts";
import { HASH_BYTES, writeLeafHash } from "./merkle.ts";
import { openNote, signerOf, signNote, type Signer } from "./note.ts";
import { rootFromTiles, TILE_WIDTH, type TileReader } from "./tiles.ts";

/** The log is not the one that was signed, so nothing more is signed. */
export class Contradiction extends Error {}

/** Keeps the hashes, the position and the checkpoints of one tree. */
export interface TreeStore<Position extends { readonly size: number }> {
  /** The place in the log up to which its lines are leaves; `undefined` for a new tree. */
  readPosition(): Promise<Position | undefined>;
  writePosition(position: Position): Promise<void>;
  /** The last signed checkpoint, as a note. */
  lastNote(): Promise<string | undefined>;
  appendNotes(notes: readonly string[]): Promise<void>;
  readonly tiles: TileReader;
  /** Writes hashes of a level behind the first ones, and over what follows those. */
  writeHashes(level: number, first: number, hashes: Buffer): Promise<void>;
}

const TILE_BYTES = TILE_WIDTH * HASH_BYTES;

/** The hashes of one level that are not written yet, in buffers, and the number of those that are. */
interface PendingHashes {
  written: number;
  readonly hashes: Buffer[];
}

/** One tree. The caller serializes the calls. */
export class SignedTree<Position extends { readonly size: number }> {
  readonly #own: TreeStore<Position>;
  readonly #signer: Signer;
  readonly #tree: GrowingTree;
  /** By level. */
  readonly #pending: PendingHashes[];
  /** The last buffer of pending leaves. */
  #leaves = Buffer.alloc(0);
  #position: Position | undefined;
  #note: string | undefined;
  #first = 0;
  #signed: { readonly size: number; readonly first: number } | undefined;
  /** The earlier keys that signed the last checkpoint, until the new key has signed one. */
  #leaving: readonly Signer[] = [];

  private constructor(
    own: TreeStore<Position>,
    signer: Signer,
    tree: GrowingTree,
    pending: PendingHashes[],
  ) {
    this.#own = own;
    this.#signer = signer;
    this.#tree = tree;
    this.#pending = pending;
  }

  /**
   * Opens a tree.
   *
   * @param earlier keys that may have signed its last checkpoint; they sign the next one too
   * @throws Contradiction if its hashes are not those of its last checkpoint
   */
  static async open<Position extends { readonly size: number }>(
    own: TreeStore<Position>,
    signer: Signer,
    earlier: readonly KeyObject[] = [],
  ): Promise<SignedTree<Position>> {
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
    const opened = new SignedTree(own, signer, tree, pending);
    opened.#position = position;
    if (note !== undefined) await opened.#accept(note, earlier);
    return opened;
  }

  /** The number of leaves. */
  get size(): number {
    return this.#tree.size;
  }

  /** The place in the log up to which its lines were leaves at the last `sign`; `undefined` before the first. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** The number of leaves that are not written yet. */
  get unwritten(): number {
    return this.size - (this.#pending[0]?.written ?? 0);
  }

  /** The first event that must still be there by the last checkpoint of a known key. */
  get first(): number {
    return this.#first;
  }

  /** The last signed checkpoint, and the number of its leaves. */
  get checkpoint(): { readonly note: string; readonly size: number } | undefined {
    return this.#note === undefined
      ? undefined
      : { note: this.#note, size: this.#signed?.size ?? 0 };
  }

  /** Adds the next line of the log. */
  add(line: Uint8Array | string): void {
    const at = (this.unwritten % TILE_WIDTH) * HASH_BYTES;
    if (at === 0) {
      this.#leaves = Buffer.allocUnsafeSlow(TILE_BYTES);
      this.#pending[0]?.hashes.push(this.#leaves);
    }
    writeLeafHash(line, this.#leaves, at);
    this.#tree.append(this.#leaves, at, at + HASH_BYTES);
  }

  /** Writes the hashes of added lines. */
  async flush(): Promise<void> {
    for (const [level, pending] of this.#pending.entries()) {
      const count = Math.floor(this.size / TILE_WIDTH ** level) - pending.written;
      const hashes = Buffer.concat(pending.hashes.splice(0), count * HASH_BYTES);
      if (count === 0) continue;
      await this.#own.writeHashes(level, pending.written, hashes);
      pending.written += count;
    }
  }

  /** Writes the hashes of added lines, and then the position in the log that belongs to them. */
  async commit(position: Position): Promise<void> {
    await this.flush();
    if (JSON.stringify(position) === JSON.stringify(this.#position)) return;
    await this.#own.writePosition(position);
    this.#position = position;
  }

  /**
   * Signs a checkpoint of all committed lines, if it differs from the last one.
   *
   * @param first the first event that must still be there
   * @returns the new checkpoint
   */
  async sign(first: number): Promise<string | undefined> {
    const { size } = this.#tree;
    if (this.#signed?.size === size && this.#signed.first === first) return undefined;
    const extensions = first > 0 ? [firstLine(first)] : [];
    const origin = this.#signer.name;
    const text = formatCheckpoint({ origin, size, root: this.#tree.root(), extensions });
    const note = signNote(text, [this.#signer, ...this.#leaving]);
    await this.#own.appendNotes([note]);
    this.#note = note;
    this.#signed = { size, first };
    this.#first = first;
    this.#leaving = [];
    return note;
  }

  /** Keeps a checkpoint of this tree with the signatures of others. The last checkpoint stays the last one. */
  async keep(note: string): Promise<void> {
    if (this.#note === undefined) return;
    const isLast = textOf(note) === textOf(this.#note);
    await this.#own.appendNotes(isLast ? [note] : [note, this.#note]);
    if (isLast) this.#note = note;
  }

  /**
   * Takes the last checkpoint over, if the tree had its root at its size. One of another key, as after a change of
   * the key or in a restored backup, is compared too, and then signed anew.
   */
  async #accept(note: string, earlier: readonly KeyObject[]): Promise<void> {
    const checkpoint = checkpointOf(note);
    const { origin, size, root } = checkpoint;
    const isRight =
      size <= this.#tree.size && (await rootFromTiles(size, this.#own.tiles)).equals(root);
    if (!isRight) throw new Contradiction("its hashes are not those of its last checkpoint");
    // The note may be under another name, if the address of the service was changed.
    const keys = [this.#signer.privateKey, ...earlier];
    const known = keys.map((key) => signerOf(origin, key));
    try {
      const found = openNote(note, known).signers;
      this.#first = firstOf(checkpoint);
      const signers = keys.filter((_, i) => known[i] !== undefined && found.includes(known[i]));
      if (!signers.includes(this.#signer.privateKey)) {
        this.#leaving = signers.map((key) => signerOf(this.#signer.name, key));
        return;
      }
    } catch (error) {
      if (error instanceof UnknownSigner) return;
      throw new Contradiction("its last checkpoint was changed", { cause: error });
    }
    this.#signed = { size, first: firstOf(checkpoint) };
    this.#note = note;
  }
}

function textOf(note: string): string {
  return note.slice(0, note.lastIndexOf("\n\n"));
}
