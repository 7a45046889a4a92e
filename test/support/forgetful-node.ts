/** The nodes of the file system in `forgetful-files.ts`. */
import type { Hash } from "node:crypto";

export const PAGE = 4096;

/**
 * Unsynced changes of which a power cut may leave a part: changes of names; the length of a file beyond
 * its synced length; and in that part, from its end, the pages that were written and not left as zeros.
 */
export type Unsynced = "names" | "length" | "pages";

/** Picks a whole number from 0 to `limit`, both included: how much of it a power cut leaves. */
export type Choose = (limit: number, of: Unsynced) => number;

/** Pages on their way to the disk. */
export interface WriteBack {
  readonly pages: ReadonlyMap<number, Buffer>;
  readonly size: number;
  readonly order: number;
}

/** A file: the content that readers see, and the content on the disk. */
export class FileNode {
  #seen = Buffer.alloc(0);
  #disk = Buffer.alloc(0);
  #dirty = new Set<number>();
  #flying = new Set<WriteBack>();
  #order = 0;
  #sizeOrder = 0;
  /** The number of failed write-backs; every descriptor reports each of them once. */
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
    const writeBack = { pages, size: this.#seen.length, order: ++this.#order };
    this.#flying.add(writeBack);
    return writeBack;
  }

  /** Drops pages on their way to the disk: they will never be written again. */
  failWriteBack(writeBack: WriteBack): void {
    this.#flying.delete(writeBack);
    this.errors++;
  }

  /** Writes pages to the disk. */
  endWriteBack(writeBack: WriteBack): void {
    const { pages, size, order } = writeBack;
    this.#flying.delete(writeBack);
    if (order > this.#sizeOrder) {
      this.#disk = Buffer.concat([this.#disk], size);
      this.#sizeOrder = order;
    }
    for (const [page, bytes] of pages) bytes.copy(this.#disk, page * PAGE);
  }

  /** The content after a power cut: the synced part, and a part of what was written after it. */
  remains(choose: Choose): Buffer {
    const extra = Math.max(0, this.#seen.length - this.#disk.length);
    const kept = choose(extra, "length");
    const end = this.#disk.length;
    const left = Buffer.concat([this.#disk], end + kept);
    const at = end + kept - (kept > 0 ? choose(kept, "pages") : 0);
    if (at < left.length) this.#seen.copy(left, at, at, left.length);
    return left;
  }

  /** Adds the content that readers see, and the content on the disk, to a hash. */
  print(hash: Hash): void {
    hash.update(`${this.#seen.length} ${this.#disk.length} `).update(this.#seen);
    if (!this.#seen.equals(this.#disk)) hash.update(this.#disk);
  }

  /** A copy of the file: both contents. */
  copy(): FileNode {
    const node = new FileNode();
    node.#seen = Buffer.from(this.#seen);
    node.#disk = Buffer.from(this.#disk);
    node.#dirty = new Set(this.#dirty); // pages on their way arrive, whichever descriptor requested it
    for (const { pages } of this.#flying) for (const page of pages.keys()) node.#dirty.add(page);
    node.#order = this.#order;
    node.#sizeOrder = this.#sizeOrder;
    node.errors = this.errors;
    return node;
  }
}

/** Names that change together: each gets a node, or `undefined` if it is removed. */
type Change = readonly (readonly [name: string, node: Node | undefined])[];

function apply(change: Change, entries: Map<string, Node>): void {
  for (const [name, node] of change) {
    if (node === undefined) entries.delete(name);
    else entries.set(name, node);
  }
}

/** A directory: its entries, and those that were synced. Changes reach the disk in their order. */
export class DirectoryNode {
  readonly entries = new Map<string, Node>();
  #disk = new Map<string, Node>();
  #unsynced: Change[] = [];

  change(change: Change): void {
    apply(change, this.entries);
    this.#unsynced.push(change);
  }

  sync(): void {
    this.#disk = new Map(this.entries);
    this.#unsynced = [];
  }

  /** The directory after a power cut, with everything in it. */
  remains(choose: Choose): DirectoryNode {
    const entries = new Map(this.#disk);
    const kept = choose(this.#unsynced.length, "names");
    for (const change of this.#unsynced.slice(0, kept)) apply(change, entries);
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

  /** Adds its names, those on the disk, and everything in it to a hash. */
  print(hash: Hash): void {
    hash.update(JSON.stringify([...this.entries.keys(), 0, ...this.#disk.keys()]));
    for (const node of this.entries.values()) node.print(hash);
    for (const [name, node] of this.#disk) if (this.entries.get(name) !== node) node.print(hash);
  }

  /** A copy of the directory, with everything in it; a file with two names stays one file. */
  copy(copies = new Map<Node, Node>()): DirectoryNode {
    const copied = (node: Node): Node => {
      const known = copies.get(node);
      if (known !== undefined) return known;
      const made = node instanceof FileNode ? node.copy() : node.copy(copies);
      copies.set(node, made);
      return made;
    };
    const copiedAll = (entries: Map<string, Node>) =>
      Array.from(entries, ([name, node]) => [name, copied(node)] as const);
    const copy = new DirectoryNode();
    for (const [name, node] of copiedAll(this.entries)) copy.entries.set(name, node);
    copy.#disk = new Map(copiedAll(this.#disk));
    copy.#unsynced = this.#unsynced.map((change) =>
      change.map(([name, node]) => [name, node && copied(node)] as const),
    );
    return copy;
  }
}

export type Node = FileNode | DirectoryNode;
