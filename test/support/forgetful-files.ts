/**
 * A file system in memory that behaves as badly as a real one may. Unsynced data is lost in a power
 * cut, including the entries of directories. A failed sync loses its pages for good, is reported
 * once to each open descriptor, and leaves them readable as if nothing had happened.
 */
import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import type { FileOperations } from "../../src/storage/file-operations.ts";
import { DirectoryNode, FileNode, type Choose, type Node } from "./forgetful-node.ts";

interface Handle {
  readonly node: Node;
  readonly path: string;
  seenErrors: number;
}

/** A sync that waits until the test ends it. */
export interface HeldSync {
  readonly path: string;
  readonly descriptor: number;
  end(error?: Error): void;
}

/** An error as the operating system reports it. */
export function systemError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

/** The file system; one `directory` exists at first. */
export class ForgetfulFiles implements FileOperations {
  /**
   * Called before every operation with its name, its path, and the flags of an `open`; an error
   * that it throws is the result of the operation.
   */
  before: (operation: keyof FileOperations, path: string, flags?: string) => void = () => {};
  /** Selects syncs that do nothing and report success, as if the program had forgotten them. */
  forgottenSync: (path: string, operation: "fsync" | "fdatasync") => boolean = () => false;
  /** The most bytes that one write takes. */
  maxWrite = Infinity;
  /** If set, `fdatasync` adds its syncs here instead of doing them. */
  held: HeldSync[] | undefined;
  #root: DirectoryNode;
  #handles = new Map<number, Handle>();
  #lastDescriptor = 100;
  #isOff = false;

  constructor(root = new DirectoryNode()) {
    this.#root = root;
  }

  /** Cuts the power. This file system never answers again; the result is what the next start finds. */
  powerCut(choose: Choose): ForgetfulFiles {
    this.#isOff = true;
    return new ForgetfulFiles(this.#root.remains(choose));
  }

  /** A copy in its present state: the process was killed, the machine was not. */
  restarted(): ForgetfulFiles {
    const next = new ForgetfulFiles(this.#root);
    this.#isOff = true;
    return next;
  }

  /** The state after a power cut at this moment; this file system continues. */
  afterPowerCut(choose: Choose): ForgetfulFiles {
    return new ForgetfulFiles(this.#root.remains(choose));
  }

  /** The state after a kill of the process at this moment: everything, synced or not. */
  afterKill(): ForgetfulFiles {
    return new ForgetfulFiles(this.#root.copy());
  }

  /** A hash of the state: equal for two disks in the same state, apart from the names of files. */
  fingerprint(): string {
    const hash = createHash("sha1");
    this.#root.print(hash);
    return hash.digest("hex");
  }

  /** The number of open descriptors. */
  get descriptors(): number {
    return this.#handles.size;
  }

  /** The text of a file, as readers see it. */
  text(path: string): string {
    return this.#file(path).bytes.toString("utf8");
  }

  async makeDirectory(path: string): Promise<void> {
    this.#enter("makeDirectory", path);
    let at = this.#root;
    for (const name of parts(path)) {
      if (!at.entries.has(name)) {
        const made = new DirectoryNode();
        at.change([[name, made]]);
      }
      at = asDirectory(at.entries.get(name));
    }
  }

  async readDirectory(path: string): Promise<string[]> {
    this.#enter("readDirectory", path);
    return [...asDirectory(this.#find(path)).entries.keys()];
  }

  /** There are only files and directories here. */
  async readOddEntries(): Promise<ReadonlyMap<string, string>> {
    return new Map();
  }

  async readFile(path: string): Promise<Buffer> {
    this.#enter("readFile", path);
    return Buffer.from(this.#file(path).bytes);
  }

  async stat(path: string): Promise<{ size: number; mode: number }> {
    this.#enter("stat", path);
    const node = this.#find(path);
    return { size: node instanceof FileNode ? node.bytes.length : 0, mode: 0o700 };
  }

  async changeMode(path: string): Promise<void> {
    this.#enter("changeMode", path);
  }

  async rename(from: string, to: string): Promise<void> {
    this.#enter("rename", from);
    const node = this.#find(from);
    if (dirname(from) !== dirname(to)) throw systemError("EXDEV");
    this.#parent(to).change([
      [basename(from), undefined],
      [basename(to), node],
    ]);
  }

  async link(from: string, to: string): Promise<void> {
    this.#enter("link", from);
    const node = this.#find(from);
    if (this.#parent(to).entries.has(basename(to))) throw systemError("EEXIST");
    this.#parent(to).change([[basename(to), node]]);
  }

  async remove(path: string): Promise<void> {
    this.#enter("remove", path);
    this.#parent(path).change([[basename(path), undefined]]);
  }

  async truncate(path: string, size: number): Promise<void> {
    this.#enter("truncate", path);
    this.#file(path).truncate(size);
  }

  async open(path: string, flags: string): Promise<number> {
    this.#enter("open", path, flags);
    const exists = this.#parent(path).entries.has(basename(path));
    if (exists && flags === "wx") throw systemError("EEXIST");
    if (!exists && flags.startsWith("w")) {
      const made = new FileNode();
      this.#parent(path).change([[basename(path), made]]);
    }
    const node = this.#find(path);
    if (flags === "w") (node as FileNode).truncate(0);
    const descriptor = ++this.#lastDescriptor;
    const seenErrors = node instanceof FileNode ? node.errors : 0;
    this.#handles.set(descriptor, { node, path, seenErrors });
    return descriptor;
  }

  async close(descriptor: number): Promise<void> {
    if (!this.#handles.delete(descriptor)) throw systemError("EBADF");
  }

  async read(descriptor: number, target: Uint8Array, position: number): Promise<number> {
    const { node, path } = this.#handle(descriptor);
    this.#enter("read", path);
    const bytes = (node as FileNode).bytes.subarray(position, position + target.length);
    target.set(bytes);
    return bytes.length;
  }

  readSync(descriptor: number, target: Uint8Array, position: number): number {
    const { node, path } = this.#handle(descriptor);
    this.#enter("readSync", path);
    const bytes = (node as FileNode).bytes.subarray(position, position + target.length);
    target.set(bytes);
    return bytes.length;
  }

  async write(descriptor: number, bytes: Uint8Array, position: number): Promise<number> {
    this.#enter("write", this.#handle(descriptor).path);
    return this.#write(descriptor, bytes, position);
  }

  writeSync(descriptor: number, bytes: Uint8Array, position: number): number {
    this.#enter("writeSync", this.#handle(descriptor).path);
    return this.#write(descriptor, bytes, position);
  }

  fdatasync(descriptor: number, done: (error: Error | null) => void): void {
    const handle = this.#handle(descriptor);
    if (this.forgottenSync(handle.path, "fdatasync")) {
      setImmediate(done, null);
      return;
    }
    const node = handle.node as FileNode;
    const writeBack = node.startWriteBack();
    const end = (fault?: Error): void => {
      if (this.#isOff) return;
      if (fault === undefined) node.endWriteBack(writeBack);
      else node.failWriteBack(writeBack);
      const unheard = node.errors > handle.seenErrors;
      handle.seenErrors = node.errors;
      done(fault ?? (unheard ? systemError("EIO") : null));
    };
    if (this.held !== undefined) {
      this.held.push({ path: handle.path, descriptor, end });
      return;
    }
    setImmediate(() => end(this.#fault("fdatasync", handle.path)));
  }

  async fsync(descriptor: number): Promise<void> {
    const handle = this.#handle(descriptor);
    const { node, path } = handle;
    if (this.forgottenSync(path, "fsync")) return;
    const fault = this.#fault("fsync", path);
    if (node instanceof DirectoryNode) {
      if (fault !== undefined) throw fault;
      node.sync();
      return;
    }
    const writeBack = node.startWriteBack();
    if (fault === undefined) node.endWriteBack(writeBack);
    else node.failWriteBack(writeBack);
    const unheard = node.errors > handle.seenErrors;
    handle.seenErrors = node.errors;
    if (fault !== undefined || unheard) throw fault ?? systemError("EIO");
  }

  #write(descriptor: number, bytes: Uint8Array, position: number): number {
    const node = this.#handle(descriptor).node as FileNode;
    const taken = bytes.subarray(0, this.maxWrite);
    node.write(taken, position);
    return taken.length;
  }

  #enter(operation: keyof FileOperations, path: string, flags?: string): void {
    if (this.#isOff) throw new Error("The power is off");
    this.before(operation, path, flags);
  }

  #fault(operation: keyof FileOperations, path: string): Error | undefined {
    try {
      this.#enter(operation, path);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  #handle(descriptor: number): Handle {
    const handle = this.#handles.get(descriptor);
    if (handle === undefined) throw systemError("EBADF");
    return handle;
  }

  #find(path: string): Node {
    let at: Node | undefined = this.#root;
    for (const name of parts(path)) at = asDirectory(at).entries.get(name);
    if (at === undefined) throw systemError("ENOENT");
    return at;
  }

  #parent(path: string): DirectoryNode {
    return asDirectory(this.#find(dirname(path)));
  }

  #file(path: string): FileNode {
    const node = this.#find(path);
    if (!(node instanceof FileNode)) throw systemError("EISDIR");
    return node;
  }
}

function parts(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function asDirectory(node: Node | undefined): DirectoryNode {
  if (node === undefined) throw systemError("ENOENT");
  if (!(node instanceof DirectoryNode)) throw systemError("ENOTDIR");
  return node;
}
