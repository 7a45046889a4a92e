import { GrowingTree } from "./growing-tree.ts";
import { HASH_BYTES, sha256, writeLeafHash } from "./merkle.ts";
import type { KnownCheckpoint } from "./stored-log.ts";
import { TILE_WIDTH } from "./tiles.ts";

/** Builds the tree of a log again, leaf by leaf, and compares it with every checkpoint on the way. */
export class RebuiltTree {
  readonly #tree: GrowingTree;
  readonly #checkpoints: readonly KnownCheckpoint[];
  /** The leaves of the last tile. */
  readonly #tile = Buffer.alloc(TILE_WIDTH * HASH_BYTES);
  /** The digest of each full tile of leaves: one hash, where its root would take 255. */
  readonly leafTiles: Buffer[] = [];
  /** By level from 1: the hashes that the tiles of that level consist of. */
  readonly levels: Buffer[][] = [];
  #next = 0;
  #covered = 0;
  #failed: KnownCheckpoint | undefined;

  /** @param checkpoints the smallest first */
  constructor(checkpoints: readonly KnownCheckpoint[]) {
    this.#checkpoints = checkpoints;
    this.#tree = new GrowingTree((level, hash) => void (this.levels[level] ??= []).push(hash));
    this.#compare();
  }

  /** The number of leaves so far. */
  get size(): number {
    return this.#tree.size;
  }

  /** The leaves that a checkpoint has confirmed, from the first on. */
  get covered(): number {
    return this.#covered;
  }

  /** The first checkpoint with another root than the tree had at its size. */
  get failed(): KnownCheckpoint | undefined {
    return this.#failed;
  }

  /** The largest checkpoint, if the tree has not reached its size. */
  get ahead(): KnownCheckpoint | undefined {
    return this.#next < this.#checkpoints.length ? this.#checkpoints.at(-1) : undefined;
  }

  /** Appends a line. */
  line(line: Uint8Array): void {
    writeLeafHash(line, this.#tile, this.#place);
    this.#push();
  }

  /** Appends leaves: their hashes, one after the other. */
  leaves(hashes: Buffer): void {
    for (let at = 0; at < hashes.length; at += HASH_BYTES) {
      hashes.copy(this.#tile, this.#place, at, at + HASH_BYTES);
      this.#push();
    }
  }

  /** The place of the next leaf in its tile. */
  get #place(): number {
    return (this.size % TILE_WIDTH) * HASH_BYTES;
  }

  #push(): void {
    this.#tree.append(this.#tile, this.#place, this.#place + HASH_BYTES);
    if (this.#place === 0) this.leafTiles.push(sha256(this.#tile));
    if (this.#checkpoints[this.#next]?.size === this.size) this.#compare();
  }

  #compare(): void {
    let checkpoint = this.#checkpoints[this.#next];
    for (; checkpoint?.size === this.size; checkpoint = this.#checkpoints[this.#next]) {
      this.#next++;
      if (this.#failed !== undefined) continue;
      if (this.#tree.root().equals(checkpoint.root)) this.#covered = checkpoint.size;
      else this.#failed = checkpoint;
    }
  }
}
