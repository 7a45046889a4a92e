/** What a disk that forgets is made of: see `forgetful-files.ts`. */

export const PAGE = 4096;

/** Picks a whole number from 0 to `limit`, both included: how much a power cut leaves. */
export type Choose = (limit: number) => number;

/** Pages on their way to the disk. */
export interface WriteBack {
  readonly pages: ReadonlyMap<number, Buffer>;
  readonly size: number;
  readonly order: number;
}

/** A file: what readers see, and what is on the disk. */
export class FileNode {
  #seen = Buffer.alloc(0);
  #disk = Buffer.alloc(0);
  #dirty = new Set<number>();
  #order = 0;
  #sizeOrder = 0;
  /** Write-backs that failed; every descriptor hears of each of them once. */
  errors = 0;

  static holding(bytes: Buffer): FileNode {
    const node = new FileNode();
    node.#seen = Buffer.from(bytes);
    node.#disk = Buffer.from(bytes);
    return node;
  }

  get bytes(): Buffer {
    return this.#seen;
  }

  write(bytes: Uint8Array, position: number): void {
    const end = position + bytes.length;
    if (end > this.#seen.length) this.#seen = Buffer.concat([this.#seen], end);
    this.#seen.set(bytes, position);
    for (let page = Math.floor(position / PAGE); page * PAGE < end; page++) this.#dirty.add(page);
  }

  truncate(size: number): void {
    const cut = size !== this.#seen.length;
    this.#seen = Buffer.concat([this.#seen], size);
    for (const page of this.#dirty) if (page * PAGE >= size) this.#dirty.delete(page);
    if (cut && size % PAGE > 0) this.#dirty.add(Math.floor(size / PAGE));
  }

  /** Takes the dirty pages, as a sync does when it starts; from now on they count as clean. */
  startWriteBack(): WriteBack {
    const pages = new Map<number, Buffer>();
    for (const page of this.#dirty) {
      pages.set(page, Buffer.from(this.#seen.subarray(page * PAGE, (page + 1) * PAGE)));
    }
    this.#dirty.clear();
    return { pages, size: this.#seen.length, order: ++this.#order };
  }

  /** Puts pages on the disk. A failed write-back does not, and nobody will ever do so again. */
  endWriteBack({ pages, size, order }: WriteBack): void {
    if (order > this.#sizeOrder) {
      this.#disk = Buffer.concat([this.#disk], size);
      this.#sizeOrder = order;
    }
    for (const [page, bytes] of pages) bytes.copy(this.#disk, page * PAGE);
  }

  /** What a power cut leaves: what was synced, and a part of what was written behind it. */
  remains(choose: Choose): Buffer {
    const extra = Math.max(0, this.#seen.length - this.#disk.length);
    const kept = choose(extra);
    const left = Buffer.concat([this.#disk], this.#disk.length + kept);
    if (kept > 0) this.#seen.copy(left, this.#disk.length, this.#disk.length, left.length);
    return left;
  }
}

type Change = (entries: Map<string, Node>) => void;

/** A directory: its entries, and those that were synced. Changes reach the disk in their order. */
export class DirectoryNode {
  readonly entries = new Map<string, Node>();
  #disk = new Map<string, Node>();
  #unsynced: Change[] = [];

  change(change: Change): void {
    change(this.entries);
    this.#unsynced.push(change);
  }

  sync(): void {
    this.#disk = new Map(this.entries);
    this.#unsynced = [];
  }

  /** What a power cut leaves of the directory and of all that is in it. */
  remains(choose: Choose): DirectoryNode {
    const entries = new Map(this.#disk);
    for (const change of this.#unsynced.slice(0, choose(this.#unsynced.length))) change(entries);
    const left = new DirectoryNode();
    for (const [name, node] of entries) {
      left.entries.set(
        name,
        node instanceof FileNode ? FileNode.holding(node.remains(choose)) : node.remains(choose),
      );
    }
    left.sync();
    return left;
  }
}

export type Node = FileNode | DirectoryNode;
