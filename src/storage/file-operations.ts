import * as fs from "node:fs";
import * as promises from "node:fs/promises";
import { dirname } from "node:path";
import { inSyncLine } from "./sync-line.ts";

/**
 * Every file operation that storage uses, as an argument, so that a test can run the same code on a disk that
 * is full, fails, loses unsynced writes, or loses its power. Errors are Node's own (`code` says which). New
 * directories have mode 0700 and new files 0600: other users may not read them.
 */
export interface FileOperations {
  /** Makes a directory and its parents; an existing one is left as it is. */
  makeDirectory(path: string): Promise<void>;
  readDirectory(path: string): Promise<string[]>;
  /** The entries of a directory that are neither files nor directories: each name, with what it is. */
  readOddEntries(path: string): Promise<ReadonlyMap<string, string>>;
  /** Fails for anything but a file: a pipe would wait for a writer, and a device may never end. */
  readFile(path: string): Promise<Buffer>;
  /** `mode` has the permissions in its last nine bits. */
  stat(path: string): Promise<{ readonly size: number; readonly mode: number }>;
  changeMode(path: string, mode: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name; fails with `EEXIST` when that name is taken. */
  link(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  truncate(path: string, size: number): Promise<void>;
  /** Opens a file. With `r` a pipe opens without a writer. */
  open(path: string, flags: OpenFlags): Promise<number>;
  close(descriptor: number): Promise<void>;
  /** Resolves with the number of bytes read, 0 at the end. */
  read(descriptor: number, target: Uint8Array, position: number): Promise<number>;
  /** Like `read`, but synchronous: takes microseconds if the bytes are in the page cache. */
  readSync(descriptor: number, target: Uint8Array, position: number): number;
  /** Resolves with the number of bytes written, which may be fewer than given. */
  write(descriptor: number, bytes: Uint8Array, position: number): Promise<number>;
  /** Like `write`, but synchronous: an append to the page cache takes microseconds. */
  writeSync(descriptor: number, bytes: Uint8Array, position: number): number;
  /** Calls back when the data of the file is on disk. After a failure the descriptor must never be trusted again. */
  fdatasync(descriptor: number, done: (error: Error | null) => void): void;
  fsync(descriptor: number): Promise<void>;
}

/** The ways to open a file, by Node's names for those of `open(2)`. */
export type OpenFlags = "r" | "r+" | "w" | "wx";

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** How an entry of a directory is called in messages. */
export const SYMBOLIC_LINK = "a symbolic link";
export const SOCKET = "a socket";

/** Node reads no larger file at once, and does not name it. */
const MAX_READ_BYTES = 2 ** 31 - 1;

/** To open a pipe for reading otherwise waits until a program writes to it. Files are read as ever. */
const READ_WITHOUT_WAITING = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

/** The result of an operation; `undefined` if its file or directory does not exist. */
export function ifExists<T>(operation: Promise<T>): Promise<T | undefined> {
  return operation.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

/** The operations of the operating system. */
export const systemFiles: FileOperations = {
  makeDirectory: makeWithParents,
  readDirectory: (path) => promises.readdir(path),
  readOddEntries: async (path) => {
    const entries = await promises.readdir(path, { withFileTypes: true });
    const odd = entries.filter((entry) => !entry.isFile() && !entry.isDirectory());
    return new Map(odd.map((entry) => [entry.name, kindOf(entry)]));
  },
  readFile: async (path) => {
    const file = await promises.open(path, READ_WITHOUT_WAITING);
    try {
      const found = await file.stat();
      if (!found.isFile() && !found.isDirectory()) throw new Error(`"${path}" is ${kindOf(found)}`);
      if (found.size > MAX_READ_BYTES) throw new Error(`"${path}" has more than 2 GiB`);
      return await file.readFile().catch((error: unknown) => {
        throw Object.assign(error as Error, { path }); // an error of an open file names no place
      });
    } finally {
      await file.close();
    }
  },
  stat: (path) => promises.stat(path),
  changeMode: (path, mode) => promises.chmod(path, mode),
  rename: (from, to) => promises.rename(from, to),
  link: (from, to) => promises.link(from, to),
  remove: (path) => promises.rm(path, { recursive: true, force: true }),
  truncate: (path, size) => promises.truncate(path, size),
  open: (path, flags) => callback((done) => fs.open(path, flagsOf(flags), FILE_MODE, done)),
  close: (descriptor) => callback<void>((done) => fs.close(descriptor, done)),
  read: (descriptor, target, position) =>
    callback((done) => fs.read(descriptor, target, 0, target.length, position, done)),
  readSync: (descriptor, target, position) =>
    fs.readSync(descriptor, target, 0, target.length, position),
  write: (descriptor, bytes, position) =>
    callback((done) => fs.write(descriptor, bytes, 0, bytes.length, position, done)),
  writeSync: (descriptor, bytes, position) =>
    fs.writeSync(descriptor, bytes, 0, bytes.length, position),
  fdatasync: (descriptor, done) => inSyncLine((end) => fs.fdatasync(descriptor, end), done),
  fsync: (descriptor) =>
    callback<void>((done) => inSyncLine((end) => fs.fsync(descriptor, end), done)),
};

/** The same for a thread that has nothing else to do meanwhile: it reads without the thread pool. */
export const blockingFiles: FileOperations = {
  ...systemFiles,
  stat: async (path) => fs.statSync(path),
  open: async (path, flags) => fs.openSync(path, flagsOf(flags), FILE_MODE),
  close: async (descriptor) => fs.closeSync(descriptor),
  read: async (descriptor, target, position) => systemFiles.readSync(descriptor, target, position),
};

function flagsOf(flags: OpenFlags): string | number {
  return flags === "r" ? READ_WITHOUT_WAITING : flags;
}

function kindOf(entry: fs.Dirent | fs.Stats): string {
  if (entry.isSymbolicLink()) return SYMBOLIC_LINK;
  if (entry.isFIFO()) return "a pipe";
  return entry.isSocket() ? SOCKET : "a device";
}

/** Node's own `recursive` loops for ever if a parent exists but nothing can be created in it, as in `/proc`. */
async function makeWithParents(path: string): Promise<void> {
  const parent = dirname(path);
  try {
    return await makeOne(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === path) throw error;
  }
  await makeWithParents(parent);
  await makeOne(path);
}

async function makeOne(path: string): Promise<void> {
  try {
    await promises.mkdir(path, { mode: DIRECTORY_MODE });
  } catch (error) {
    const isThere = await promises.stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isThere) throw error;
  }
}

/** Descriptors are plain numbers here; the promise API of Node does not expose them. */
function callback<T>(
  start: (done: (error: NodeJS.ErrnoException | null, value?: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}
