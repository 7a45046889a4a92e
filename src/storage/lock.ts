/**
 * The lock that keeps a second server off a data directory.
 *
 * A lock is written aside and linked into place; only one process can succeed. A takeover from a dead owner is a
 * chain of such links, so that only one process can win it: the process that links `lock.after-<token of the dead
 * owner>` (its claim) is the next owner. If that process died as well, the same rule applies to its successor. The
 * winner renames its own lock over the dead one and removes the chain.
 *
 * A slow process that had read the dead owner's lock could then link the same claim again. So a claim counts only
 * if, after it was linked, the lock is still the one at the start of the chain. Tokens are never reused, and the
 * rename comes before the removal, so one of the two processes always sees the other.
 *
 * Whether an owner lives is asked by its process number. The number of another container's process means nothing
 * here, even if both have one host name, and a container may show a boot of its own. So every owner listens on a
 * socket, from before its lock is linked until after it is removed, and counts as dead only if no process listens
 * there.
 */
import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../core/clock.ts";
import { ConfigError } from "../core/config-error.ts";
import { jsonOrUndefined } from "../core/json/json.ts";
import { formatTimestamp } from "../core/time.ts";
import { isObject } from "../core/validate.ts";
import { listDirectory, makeRootDirectory } from "./directories.ts";
import type { FileOperations } from "./file-operations.ts";
import { holdSocket, isHeld } from "./held-socket.ts";
import type { Layout } from "./layout.ts";
import { isAlive, ownIdentity, type ProcessIdentity } from "./process-identity.ts";
import { readFileIfAny, TEMPORARY_SUFFIX, writeWhole } from "./snapshot.ts";

/** The content of a lock file. */
interface Owner extends ProcessIdentity {
  readonly since: string;
  /** A random value, new for every lock. */
  readonly token: string;
  /** Whether the owner listens on its socket: some file systems have none. */
  readonly listens: boolean;
}

/** The lock of a data directory, held until it is released. */
export interface DirectoryLock {
  /** Removes the lock if it is still ours. */
  release(): Promise<void>;
}

/**
 * Takes the lock of a data directory; creates the directory if it is missing.
 *
 * @throws Error naming the owner and the way out if another server has it, even one in this process
 */
export async function acquireLock(
  files: FileOperations,
  layout: Layout,
  now: Clock,
): Promise<DirectoryLock> {
  await makeRootDirectory(files, layout.root).catch((error: unknown) => {
    throw directoryFault(error as NodeJS.ErrnoException, layout.root);
  });
  const token = randomBytes(12).toString("hex");
  const stopListening = await holdSocket(layout.lockSocket(token));
  const listens = stopListening !== undefined;
  const own: Owner = { ...(await ownIdentity()), since: formatTimestamp(now()), token, listens };
  const attempt = new LockAttempt(files, layout, own);
  try {
    while (!(await attempt.take())); // each repetition means that another process was faster
  } catch (error) {
    await stopListening?.();
    throw error;
  }
  return {
    async release() {
      if ((await attempt.read(layout.lock))?.token === token) await files.remove(layout.lock);
      await stopListening?.();
    },
  };
}

/**
 * The process that holds a data directory; `undefined` if it is free. Changes nothing. The directory counts as held
 * if the owner is on another host, or if the lock cannot be read.
 */
export async function ownerOf(files: FileOperations, layout: Layout): Promise<string | undefined> {
  const bytes = await readFileIfAny(files, layout.lock);
  if (bytes === undefined) return undefined;
  const owner = parseOwner(bytes.toString("utf8"));
  if (owner === undefined) return "a lock that cannot be read";
  if ((await stateOf(owner, await ownIdentity(), layout)) === "dead") return undefined;
  return `process ${owner.pid} on host "${owner.host}" since ${owner.since}`;
}

/** Whether the owner of a lock lives, as far as this process can tell. */
async function stateOf(
  owner: Owner,
  self: ProcessIdentity,
  layout: Layout,
): Promise<"alive" | "dead" | "unknown"> {
  if (owner.host !== self.host) return "unknown";
  let lives = await isAlive(owner, self);
  // A container may show another boot, or no `/proc`. So the socket must agree before an owner counts as dead.
  if (lives !== true && owner.listens)
    lives = (await isHeld(layout.lockSocket(owner.token))) ?? lives;
  if (lives === undefined) return "unknown";
  return lives ? "alive" : "dead";
}

class LockAttempt {
  readonly #files: FileOperations;
  readonly #layout: Layout;
  readonly #own: Owner;
  readonly #aside: string;

  constructor(files: FileOperations, layout: Layout, own: Owner) {
    this.#files = files;
    this.#layout = layout;
    this.#own = own;
    this.#aside = `${layout.lock}.${own.token}${TEMPORARY_SUFFIX}`;
  }

  /** Tries once; `false` if the lock changed hands meanwhile. */
  async take(): Promise<boolean> {
    const text = Buffer.from(`${JSON.stringify(this.#own)}\n`);
    await writeWhole(this.#files, this.#aside, text).catch((error: unknown) => {
      throw directoryFault(error as NodeJS.ErrnoException, this.#layout.root);
    });
    try {
      return (await this.#link(this.#layout.lock)) || (await this.#takeOver());
    } finally {
      await this.#files.remove(this.#aside);
    }
  }

  /** Reads a lock or a claim; `undefined` if it does not exist. */
  async read(path: string): Promise<Owner | undefined> {
    const bytes = await readFileIfAny(this.#files, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "EISDIR") return Buffer.alloc(0);
      throw error;
    });
    if (bytes === undefined) return undefined;
    const owner = parseOwner(bytes.toString("utf8"));
    if (owner) return owner;
    throw new Error(
      `The lock "${path}" is damaged: make sure that no server uses this data directory, then remove it`,
    );
  }

  async #takeOver(): Promise<boolean> {
    const head = await this.read(this.#layout.lock);
    if (head === undefined) return false;
    const dead: Owner[] = [];
    let claim = this.#layout.lock;
    for (let next: Owner | undefined = head; next; next = await this.read(claim)) {
      await this.#refuseUnlessDead(next);
      dead.push(next);
      claim = this.#claimAfter(next);
    }
    if (!(await this.#link(claim))) return false;
    if ((await this.read(this.#layout.lock))?.token !== head.token) {
      await this.#files.remove(claim);
      return false;
    }
    await this.#files.rename(this.#aside, this.#layout.lock);
    await this.#removeClaims();
    for (const { token } of dead) await this.#files.remove(this.#layout.lockSocket(token));
    return true;
  }

  async #link(path: string): Promise<boolean> {
    try {
      await this.#files.link(this.#aside, path);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Our file aside is missing: the process that has the lock now removed it as a leftover.
      if (code === "EEXIST" || code === "ENOENT") return false;
      throw error;
    }
  }

  #claimAfter(owner: Owner): string {
    return `${this.#layout.lock}.after-${owner.token}`;
  }

  /** Removes all claims, including those of dead processes. They cannot count any more. */
  async #removeClaims(): Promise<void> {
    const directory = dirname(this.#layout.lock);
    const start = `${basename(this.#layout.lock)}.after-`;
    for (const name of await listDirectory(this.#files, directory)) {
      if (name.startsWith(start)) await this.#files.remove(join(directory, name));
    }
  }

  async #refuseUnlessDead(owner: Owner): Promise<void> {
    const state = await stateOf(owner, this.#own, this.#layout);
    if (state === "dead") return;
    const place = `The data directory "${this.#layout.root}"`;
    const who = `process ${owner.pid} on host "${owner.host}" since ${owner.since}`;
    if (state === "unknown") {
      const here = owner.host === this.#own.host ? "another container" : "host";
      throw new Error(
        `${place} was locked by ${who}, and whether that still runs cannot be told from ${here} ` +
          `"${this.#own.host}": stop it, then remove "${this.#layout.lock}", or choose another DATA_DIR`,
      );
    }
    const isSelf = owner.pid === this.#own.pid && owner.namespace === this.#own.namespace;
    const self = isSelf ? " (this very process)" : "";
    throw new Error(
      `${place} is in use by ${who}${self}: stop that server, or choose another DATA_DIR`,
    );
  }
}

/** Describes the error of a directory, with the way out; returns an unknown error unchanged. */
function directoryFault(error: NodeJS.ErrnoException, root: string): Error {
  const { code = "" } = error;
  const told = (
    what: string,
    Kind: new (message: string, options: ErrorOptions) => Error = Error,
  ): Error => new Kind(`The data directory "${root}" ${what} (${code})`, { cause: error });
  if (["EACCES", "EPERM", "EROFS"].includes(code)) {
    return told("cannot be written by this user: change its owner, or choose another DATA_DIR");
  }
  if (["ENOSPC", "EDQUOT"].includes(code)) {
    return told("is on a full disk: free some space, or choose another DATA_DIR");
  }
  if (code === "ENOENT") {
    return told("does not exist and cannot be created: choose another DATA_DIR", ConfigError);
  }
  const isFile = ["EEXIST", "ENOTDIR"].includes(code);
  return isFile
    ? told("is a file, or is inside a file: choose another DATA_DIR", ConfigError)
    : error;
}

function parseOwner(text: string): Owner | undefined {
  const value = jsonOrUndefined(text);
  if (!isObject(value)) return undefined;
  // Locks of earlier versions have no namespace, and their owners do not listen.
  const { pid, started, boot, namespace = null, host, since, token, listens = false } = value;
  if (!Number.isSafeInteger(pid) || (pid as number) < 1) return undefined;
  if (typeof started !== "string" && started !== null) return undefined;
  if (typeof boot !== "string" && boot !== null) return undefined;
  if (typeof namespace !== "string" && namespace !== null) return undefined;
  if (typeof host !== "string" || typeof since !== "string") return undefined;
  if (typeof listens !== "boolean") return undefined;
  if (typeof token !== "string" || !/^[0-9a-f]{24}$/.test(token)) return undefined;
  return { pid: pid as number, started, boot, namespace, host, since, token, listens };
}
