import { EMPTY_ROOT, HASH_BYTES, nodeHash, perfectRoot } from "./merkle.ts";
import { TILE_WIDTH, tileWidth, type TileReader } from "./tiles.ts";

/** A tile that is full and never changes again: 8,192 bytes. */
export interface FullTile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Buffer;
}

/**
 * The right edge of a growing tree: of each level the one tile that is not full. Full tiles are handed out
 * and forgotten, so the memory is 8 KiB for each level, however large the tree is.
 */
export class GrowingTree {
  readonly #onFull: (tile: FullTile) => void;
  /** The last tile of each level. Its first hashes count, as many as `tileWidth` says. */
  readonly #edge: Buffer[] = [];
  #size = 0;

  /** @param onFull takes each tile as it becomes full, lower levels first; the buffer is the taker's */
  constructor(onFull: (tile: FullTile) => void) {
    this.#onFull = onFull;
  }

  /** Opens a tree of known size, with the last tile of each level as the reader gives it. */
  static async resume(
    size: number,
    read: TileReader,
    onFull: (tile: FullTile) => void,
  ): Promise<GrowingTree> {
    const tree = new GrowingTree(onFull);
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

  /** Appends leaves: their hashes, one after the other. */
  append(leaves: Uint8Array): void {
    for (let at = 0; at < leaves.length; at += HASH_BYTES) {
      this.#add(0, this.#size, leaves.subarray(at, at + HASH_BYTES));
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

  /** A copy of a tile that is not full; `undefined` for every other tile. */
  partialTile(level: number, index: number): Buffer | undefined {
    const last = lastOf(this.#size, level);
    const edge = this.#edge[level];
    if (edge === undefined || last.index !== index || last.width === 0) return undefined;
    return Buffer.from(edge.subarray(0, last.width * HASH_BYTES));
  }

  /** Puts the hash with this number among those of its level, and hands the tile out that it fills. */
  #add(level: number, number: number, hash: Uint8Array): void {
    const edge = (this.#edge[level] ??= Buffer.alloc(TILE_WIDTH * HASH_BYTES));
    const offset = number % TILE_WIDTH;
    edge.set(hash, offset * HASH_BYTES);
    if (offset < TILE_WIDTH - 1) return;
    const index = Math.floor(number / TILE_WIDTH);
    const root = perfectRoot(edge, 0, TILE_WIDTH);
    this.#onFull({ level, index, hashes: Buffer.from(edge) });
    this.#add(level + 1, index, root);
  }
}

/** The tile of a level in which the tree's next hash goes, and its hashes so far: 0 to 255. */
function lastOf(size: number, level: number): { readonly index: number; readonly width: number } {
  const index = Math.floor(Math.floor(size / TILE_WIDTH ** level) / TILE_WIDTH);
  return { index, width: tileWidth(size, level, index) };
}
