import { relative, sep } from "node:path";
import { describeError, type Log } from "../../../core/log.ts";
import { setNewest } from "../../../core/set-newest.ts";
import { clearInterval, setInterval } from "../../../core/timers.ts";
import { SECOND_MS, type Clock } from "../../../core/clock.ts";
import type { SigningFigures } from "../../../engine.ts";
import { LOGS, originOf, type NamedLog } from "../../../proof/log-name.ts";
import { signerOf, type Signer } from "../../../proof/note.ts";
import { Contradiction, SignedTree } from "../../../proof/signed-tree.ts";
import { listOrganizations } from "../../directories.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { Queue } from "../../../core/scheduling/queue.ts";
import { followFiles, filesAhead } from "./follow-files.ts";
import { logParts, type LogPart } from "./log-sources.ts";
import type { ContradictedLog } from "../../../signed-logs/contradiction-entry.ts";
import { writeCopies } from "../../../signed-logs/kept-copies.ts";
import { PacedWork, waitMs } from "../../../signed-logs/paced-work.ts";
import type { SigningParts } from "../../../signed-logs/signing-parts.ts";
import { TreeFiles, type TreePosition } from "./tree-files.ts";

/** The most trees in memory, some 20 KiB each; the others are read from their files when they are needed. */
const MAX_OPEN = 256;

/** A store that appends to logs. */
interface LogWriter {
  /** The files that are open for writing, each with its acknowledged bytes. */
  readonly committed: readonly (readonly [path: string, bytes: number])[];
}

export interface NotaryParts extends SigningParts {
  readonly files: FileOperations;
  readonly layout: Layout;
  readonly now: Clock;
  readonly log: Log;
  /** The stores whose logs are signed. */
  readonly writers: readonly LogWriter[];
  /** Called once for each log that contradicts its checkpoint. */
  readonly contradicted?: (log: ContradictedLog) => Promise<void>;
}

/** Signs the logs of all organizations, one log at a time: at intervals, before files are removed, and at a stop. */
export class Notary {
  readonly #parts: NotaryParts;
  readonly #queue = new Queue();
  readonly #trees = new Map<string, SignedTree<TreePosition>>();
  /** Trees that sign nothing more, because their log contradicts what was signed. */
  readonly #contradicted = new Map<string, unknown>();
  /** The number of signed lines of each log that was visited, by name. */
  readonly #sizes = new Map<string, number>();
  /** The acknowledged bytes at the last visit, by path. */
  readonly #seen = new Map<string, number>();
  /** The logs that the next round visits even if they have not grown, by name. */
  readonly #due = new Map<string, NamedLog>();
  /** The signing that requests ask for, by the name of the log. */
  readonly #requested = new Map<string, PacedWork>();
  readonly #timer: NodeJS.Timeout;
  #failure: unknown;
  /** Everything that was stored before this moment is signed. */
  #signedUpTo: number;
  #isFirst = true;
  #isClosed = false;

  constructor(parts: NotaryParts) {
    this.#parts = parts;
    this.#signedUpTo = parts.now();
    this.#timer = setInterval(() => void this.signGrown(), parts.seconds * SECOND_MS).unref();
  }

  /** The reason for which some log is not signed, or not copied; `undefined` while all are. */
  get failure(): unknown {
    return this.#contradicted.values().next().value ?? this.#failure;
  }

  /** Whether a log is not signed, or its checkpoints do not leave this machine. */
  get isDegraded(): boolean {
    return this.failure !== undefined || this.#parts.delivery?.isLate === true;
  }

  /** The figures of all logs since the start. */
  get figures(): SigningFigures {
    let lines = 0;
    for (const size of this.#sizes.values()) lines += size;
    const lagMs = Math.max(0, this.#parts.now() - this.#signedUpTo);
    const { delivery } = this.#parts;
    return {
      ...{ lines, lagSeconds: lagMs / SECOND_MS, contradicted: this.#contradicted.size },
      ...(delivery && { deliveryLagSeconds: delivery.lagSeconds }),
    };
  }

  /** Signs every log that has grown; the first time all logs, which may have grown before this start. */
  async signGrown(): Promise<void> {
    const { layout, now } = this.#parts;
    const startedAt = now();
    const committed = this.#committed;
    if (this.#isFirst && !(await this.#addAll())) return;
    const due = new Map(this.#due);
    this.#due.clear();
    for (const [path, bytes] of committed) {
      if (this.#seen.get(path) === bytes) continue;
      const [organization = "", folder] = relative(layout.organizations, path).split(sep);
      const named: NamedLog = { organization, log: folder === "audit" ? "audit" : "activity" };
      due.set(keyOf(named), named);
    }
    this.#failure = undefined;
    for (const named of due.values()) await this.sign(named);
    if (this.failure === undefined) this.#signedUpTo = startedAt;
    await this.#writeCopies();
    for (const path of this.#seen.keys()) if (!committed.has(path)) this.#seen.delete(path);
    for (const [path, bytes] of committed) this.#seen.set(path, bytes);
  }

  /** Makes the logs of all organizations due. Returns false, and keeps the failure, if these cannot be listed. */
  async #addAll(): Promise<boolean> {
    const { files, layout, log } = this.#parts;
    try {
      const ids = await listOrganizations(files, layout);
      const all = ids.flatMap((organization) => LOGS.map((log) => ({ organization, log })));
      for (const named of all) this.#due.set(keyOf(named), named);
      this.#isFirst = false;
      return true;
    } catch (error) {
      this.#failure = error;
      log.error("no log is signed", { error: describeError(error) });
      return false;
    }
  }

  /** The acknowledged bytes of the files that are open for writing, by path. */
  get #committed(): ReadonlyMap<string, number> {
    return new Map(this.#parts.writers.flatMap((writer) => writer.committed));
  }

  /** The key of a tree. */
  signerOf(named: NamedLog): Signer {
    const { keys, host } = this.#parts;
    return signerOf(originOf(host, named), keys.key);
  }

  /** The tree of a log as its files are; `undefined` if it is not in memory. */
  openTree(named: NamedLog): Pick<SignedTree<TreePosition>, "checkpoint" | "position"> | undefined {
    return this.#trees.get(keyOf(named));
  }

  /** The files of a log, each with its acknowledged bytes. */
  partsOf(named: NamedLog): Promise<readonly LogPart[]> {
    const { files, layout } = this.#parts;
    return logParts(files, layout, named, this.#committed);
  }

  /**
   * Makes leaves of everything in a log, and signs that files of it are not needed any more, before they are removed.
   * If they were removed first, their events would seem to be missing until the next checkpoint.
   *
   * @returns those of the files that may be removed: without one whose lines are not leaves, the log could never be signed
   */
  async beforeRemoval(named: NamedLog, leaving: readonly string[]): Promise<readonly string[]> {
    const isSigned = await this.sign(named, leaving);
    const key = keyOf(named);
    this.#due.set(key, named);
    if (isSigned || this.#isClosed || this.#contradicted.has(key)) return leaving;
    const { files, layout, log } = this.#parts;
    const position = await new TreeFiles(files, layout, named).readPosition();
    const needed = filesAhead(position, await this.partsOf(named));
    const [first] = needed.filter((name) => leaving.includes(name));
    // It can be signed later that the files before it have left.
    if (first !== undefined) {
      log.error("files of a log stay until it is signed again", { ...named, from: first });
    }
    return leaving.filter((name) => !needed.includes(name));
  }

  /**
   * Signs one log for a request, at most once a second, since each signing is a sync. Requests in between share
   * the next one.
   */
  async signFor(named: NamedLog): Promise<void> {
    const name = keyOf(named);
    if (this.#contradicted.has(name)) return;
    let paced = this.#requested.get(name);
    if (paced === undefined) {
      const { now, wait = waitMs } = this.#parts;
      paced = new PacedWork(async () => void (await this.sign(named)), now, wait);
      this.#requested.set(name, paced);
    }
    await paced.run();
  }

  /**
   * Signs one log as it is now. A failure is logged and kept as `failure`.
   *
   * @param leaving the names of the files that are about to be removed
   * @returns whether all of its lines are leaves now
   */
  sign(named: NamedLog, leaving: readonly string[] = []): Promise<boolean> {
    return this.#queue.run(async () => {
      const name = keyOf(named);
      if (this.#isClosed || this.#contradicted.has(name)) return false;
      try {
        const opened = await this.#open(named);
        const parts = await this.partsOf(named);
        const note = await followFiles(this.#parts.files, opened, parts, leaving);
        const isFirst = !this.#sizes.has(name);
        this.#sizes.set(name, opened.checkpoint?.size ?? 0);
        if (note !== undefined) this.#parts.copies?.add(note);
        // Before this start the last checkpoint may not have been delivered: there is no record of that.
        const unsent = note ?? (isFirst ? opened.checkpoint?.note : undefined);
        if (unsent !== undefined) this.#parts.delivery?.add(unsent);
        return true;
      } catch (error) {
        this.#trees.delete(name); // it is read again from its files
        this.#failure = error;
        const { organization, log: tree } = named;
        const parts = { organization, tree, error: describeError(error) };
        this.#parts.log.error("the log is not signed", parts);
        if (error instanceof Contradiction) await this.#contradict(named, error);
        else this.#due.set(name, named);
        return false;
      }
    });
  }

  /** Keeps a checkpoint with the signatures of others. */
  keep(named: NamedLog, note: string): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#isClosed || this.#contradicted.has(keyOf(named))) return;
      await (await this.#open(named)).keep(note);
    });
  }

  async #contradict(named: NamedLog, error: Contradiction): Promise<void> {
    this.#contradicted.set(keyOf(named), error);
    const { organization, log: tree } = named;
    try {
      await this.#parts.contradicted?.({ organization, tree, reason: error.message });
    } catch (failure) {
      const parts = { organization, tree, error: describeError(failure) };
      this.#parts.log.error(
        "the activity log has no entry about the log that is not signed",
        parts,
      );
    }
  }

  async #writeCopies(): Promise<void> {
    const { copies, log } = this.#parts;
    this.#failure = (await writeCopies(copies, log)) ?? this.#failure;
  }

  /** Signs what the logs have got since, delivers it if that takes no more than seconds, and ends. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.signGrown();
    await this.#parts.delivery?.close();
    this.#isClosed = true; // a request may still wait for its signing
    await this.#queue.idle();
  }

  async #open(named: NamedLog): Promise<SignedTree<TreePosition>> {
    const key = keyOf(named);
    const known = this.#trees.get(key);
    if (known !== undefined) return known;
    const { files, layout, keys } = this.#parts;
    const own = new TreeFiles(files, layout, named);
    const opened = await SignedTree.open(own, this.signerOf(named), keys.earlier);
    setNewest(this.#trees, key, opened, MAX_OPEN);
    return opened;
  }
}

function keyOf({ organization, log }: NamedLog): string {
  return `${organization} ${log}`;
}
