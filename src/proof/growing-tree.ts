import { EMPTY_ROOT, HASH_BYTES, nodeHash, perfectRoot } from "./merkle.ts";
import { TILE_WIDTH, tileWidth, type TileReader } from "./tiles.ts";

/** Receives each hash of a level above the leaves as soon as it is final; they come in order within a level. */
export type TakeHash = (level: number, hash: Buffer) => void;

/**
 * The right edge of a growing tree: of each level the one tile that is not full. So the memory is 8 KiB for each
 * level, however large the tree is.
 */
export class GrowingTree {
  readonly #onHash: TakeHash;
  /** The last tile of each level. Its first hashes count, as many as `tileWidth` says. */
  readonly #edge: Buffer[] = [];
  #size = 0;

  constructor(onHash: TakeHash) {
    this.#onHash = onHash;
  }

  /** Opens a tree of known size, with the last tile of each level as the reader gives it. */
  static async resume(size: number, read: TileReader, onHash: TakeHash): Promise<GrowingTree> {
    const tree = new GrowingTree(onHash);
    for (let level = 0; TILE_WIDTH ** level <= size; level++) {
      const edge = Buffer.alloc(TILE_WIDTH * HASH_BYTES);
      const { index, width } = lastOf(size, level);
      if (width > 0) {
        const hashes = await read(level, index, width);
        if (hashes.length < width * HASH_BYTES) {
          throw new Error(`Tile ${level}/${index} has fewer than ${width} hashes`);
        }
        edge.set(hashes.subarray(0, width * HASH_BYTES));
      }
      tree.#edge.push(edge);
    }
    tree.#size = size;
    return tree;
  }

  /** The number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Appends leaves: their hashes, one after the other, in a range of a buffer. */
  append(leaves: Buffer, from = 0, to = leaves.length): void {
    for (let at = from; at < to; at += HASH_BYTES) {
      this.#add(0, this.#size, leaves, at);
      this.#size++;
    }
  }

  /** The root over all leaves. */
  root(): Buffer {
    let root: Buffer | undefined;
    for (const [level, edge] of this.#edge.entries()) {
      // The binary digits of the width, from right to left, are the perfect subtrees of this tile.
      let { width } = lastOf(this.#size, level);
      for (let count = 1; width > 0; count *= 2) {
        if ((width & count) === 0) continue;
        width -= count;
        const left = perfectRoot(edge, width, count);
        root = root === undefined ? left : nodeHash(left, root);
      }
    }
    return root ?? EMPTY_ROOT;
  }

  /** Puts the hash with this number among those of its level; the tile that it fills is a hash of the next one. */
  #add(level: number, number: number, hashes: Buffer, at: number): void {
    const edge = (this.#edge[level] ??= Buffer.alloc(TILE_WIDTH * HASH_BYTES));
    const offset = number % TILE_WIDTH;
    hashes.copy(edge, offset * HASH_BYTES, at, at + HASH_BYTES);
    if (offset < TILE_WIDTH - 1) return;
    const root = perfectRoot(edge, 0, TILE_WIDTH);
    this.#onHash(level + 1, root);
    this.#add(level + 1, Math.floor(number / TILE_WIDTH), root, 0);
  }
}

/** The tile of a level in which the tree's next hash goes, and its hashes so far: 0 to 255. */
function lastOf(size: number, level: number): { readonly index: number; readonly width: number } {
  const index = Math.floor(Math.floor(size / TILE_WIDTH ** level) / TILE_WIDTH);
  return { index, width: tileWidth(size, level, index) };
}
