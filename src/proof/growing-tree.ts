import { EMPTY_ROOT, HASH_BYTES, joinNodes, nodeHash, perfectRoot } from "./merkle.ts";
import { TILE_HEIGHT, TILE_WIDTH, tileWidth, type TileReader } from "./tiles.ts";

const MAX_HEIGHT = 53;

/** Receives each hash of a level above the leaves as soon as it is final; they come in order within a level. */
export type TakeHash = (level: number, hash: Buffer) => void;

/**
 * The roots of the perfect subtrees that a growing tree consists of, largest first. They are all that is needed to
 * continue and to compute the root, in a few hashes at any size.
 */
export class GrowingTree {
  /** The roots, after a byte. */
  readonly #nodes = Buffer.alloc(1 + (MAX_HEIGHT + 1) * HASH_BYTES);
  /** For each root: the byte before it, it, and the next one. */
  readonly #pairs = Array.from({ length: MAX_HEIGHT }, (_, i) =>
    this.#nodes.subarray(i * HASH_BYTES, 1 + (i + 2) * HASH_BYTES),
  );
  readonly #onHash: TakeHash;
  #count = 0;
  #size = 0;

  constructor(onHash: TakeHash) {
    this.#onHash = onHash;
  }

  /** Opens a tree of known size, with the last tile of each level as the reader gives it. */
  static async resume(size: number, read: TileReader, onHash: TakeHash): Promise<GrowingTree> {
    const roots: Buffer[] = [];
    for (let level = 0; TILE_WIDTH ** level <= size; level++) {
      const index = Math.floor(size / TILE_WIDTH ** (level + 1));
      const width = tileWidth(size, level, index);
      if (width === 0) continue;
      const tile = await read(level, index, width);
      if (tile.length < width * HASH_BYTES) {
        throw new Error(`Tile ${level}/${index} has fewer than ${width} hashes`);
      }
      // The binary digits of the width, from right to left, are the perfect subtrees of this tile.
      for (let count = 1, left = width; left > 0; count *= 2) {
        if ((left & count) === 0) continue;
        left -= count;
        roots.unshift(perfectRoot(tile, left, count));
      }
    }
    const tree = new GrowingTree(onHash);
    tree.#nodes.set(Buffer.concat(roots), 1);
    tree.#count = roots.length;
    tree.#size = size;
    return tree;
  }

  /** The number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Appends leaves: their hashes, one after the other, in a range of a buffer. */
  append(leaves: Buffer, from = 0, to = leaves.length): void {
    for (let at = from; at < to; at += HASH_BYTES) this.#push(leaves, at);
  }

  /** The root over all leaves. */
  root(): Buffer {
    if (this.#count === 0) return EMPTY_ROOT;
    let root: Buffer = Buffer.from(this.#node(this.#count - 1));
    for (let i = this.#count - 2; i >= 0; i--) root = nodeHash(this.#node(i), root);
    return root;
  }

  #push(leaves: Buffer, at: number): void {
    const [nodes, place] = [this.#nodes, 1 + this.#count * HASH_BYTES];
    // A loop: for so few bytes a method of Buffer takes several times as long.
    for (let i = 0; i < HASH_BYTES; i++) nodes[place + i] = leaves[at + i] as number;
    this.#count++;
    let height = 0;
    // Each binary digit that is 1 stands for a subtree that the new one joins.
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      this.#count--;
      joinNodes(this.#pairs[this.#count - 1] as Buffer);
      height++;
      if (height % TILE_HEIGHT !== 0) continue;
      this.#onHash(height / TILE_HEIGHT, Buffer.from(this.#node(this.#count - 1)));
    }
    this.#size++;
  }

  #node(i: number): Buffer {
    return this.#nodes.subarray(1 + i * HASH_BYTES, 1 + (i + 1) * HASH_BYTES);
  }
}
