import { EMPTY_ROOT, HASH_BYTES, nodeHash, writeNodeHash } from "./merkle.ts";

const MAX_HEIGHT = 53;

/** Receives the hash of a node, which begins at a place of a buffer and is valid only during the call. */
export type TakeNode = (height: number, nodes: Buffer, at: number) => void;

/**
 * The roots of the perfect subtrees that a tree consists of, largest first: all that is needed to go on and to
 * tell the root, in a few hashes at any size. `GrowingTree` keeps tiles as well; a check of a log does not need them.
 */
export class Frontier {
  readonly #nodes = Buffer.alloc((MAX_HEIGHT + 1) * HASH_BYTES);
  readonly #onNode: TakeNode;
  #count = 0;
  #size = 0;

  /** @param onNode receives the root of each perfect subtree above a leaf, once, when it is complete */
  constructor(onNode: TakeNode = () => {}) {
    this.#onNode = onNode;
  }

  /** The number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Appends the leaf that begins at a place of a buffer. */
  push(leaves: Buffer, at: number): void {
    const nodes = this.#nodes;
    leaves.copy(nodes, this.#count * HASH_BYTES, at, at + HASH_BYTES);
    this.#count++;
    let height = 0;
    // Each binary digit that is 1 stands for a subtree that the new one joins.
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      this.#count--;
      const left = (this.#count - 1) * HASH_BYTES;
      writeNodeHash(nodes, left, nodes, left);
      height++;
      this.#onNode(height, nodes, left);
    }
    this.#size++;
  }

  /** The root over all leaves. */
  root(): Buffer {
    if (this.#count === 0) return EMPTY_ROOT;
    let root: Buffer = Buffer.from(this.#node(this.#count - 1));
    for (let i = this.#count - 2; i >= 0; i--) root = nodeHash(this.#node(i), root);
    return root;
  }

  #node(i: number): Buffer {
    return this.#nodes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES);
  }
}
