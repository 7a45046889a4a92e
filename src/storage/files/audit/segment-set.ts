/**
 * The segments of one organization and their indexes. A sealed segment's index comes from its sidecar, or from the
 * log if that is missing or damaged. The active segment has a growing index, which answers queries after it is sealed
 * until the sidecar is written, synced and renamed. After a crash before that the next start rebuilds it.
 */
import { basename } from "node:path";
import type { AuditUsage } from "../../../audit/store.ts";
import { DamageFound, type DamageRegister } from "../../damage.ts";
import type { FileOperations } from "../../file-operations.ts";
import { inParallel } from "../../parallel.ts";
import { Queue } from "../../../core/scheduling/queue.ts";
import type { ReadFiles } from "../../read-files.ts";
import type { SegmentedLog } from "../../segmented-log.ts";
import { GrowingIndex, indexLines } from "./index/growing-index.ts";
import type { IndexThreads } from "./sidecar/index-threads.ts";
import { SealedIndex } from "./index/sealed-index.ts";
import type { SegmentIndex } from "./index/segment-index.ts";
import { SidecarDamaged } from "./sidecar/on-demand-sections.ts";
import { removeStrayFiles, sidecarOf } from "./sidecar/stray-files.ts";
import { writeSidecar } from "./sidecar/writer.ts";
import type { Removing } from "../proof/removing.ts";

export interface SegmentSetOptions {
  readonly files: FileOperations;
  readonly reads: ReadFiles;
  readonly directory: string;
  readonly organization: string;
  /** Registers damaged lines: those that are not events of this organization. Queries skip them. */
  readonly damage: DamageRegister;
  /** Called when a sidecar could not be written. The index stays in memory until the next start rebuilds it. */
  readonly indexFailed: (error: unknown, file: string) => void;
  /** Threads that rebuild missing sidecars; without them the main thread does it. */
  readonly threads?: IndexThreads;
  /** Called before files of an organization are removed, which waits for it; with the names of the files. */
  readonly removing?: Removing | undefined;
}

/** The most characters of distinct texts in the active index, with 32 more for each. Ordinary events have some millions. */
export const MOST_CHARACTERS = 16 << 20;

/** The indexes of one organization. */
export class SegmentSet {
  readonly #options: SegmentSetOptions;
  readonly #log: SegmentedLog;
  readonly #sealing = new Queue();
  /** The segment whose sidecar is being written. */
  #underWay: { readonly segment: number; readonly end: Promise<void> } | undefined;
  #indexes: SegmentIndex[] = [];
  #sealedBytes = 0;
  #growing: GrowingIndex;

  private constructor(options: SegmentSetOptions, log: SegmentedLog, growing: GrowingIndex) {
    this.#options = options;
    this.#log = log;
    this.#growing = growing;
  }

  /** Loads the index of every segment. */
  static async open(options: SegmentSetOptions, log: SegmentedLog): Promise<SegmentSet> {
    const last = log.segments.at(-1) as number;
    const sealed = log.segments.slice(0, -1);
    await removeStrayFiles(options.files, options.directory, log);
    const set = new SegmentSet(options, log, new GrowingIndex(last));
    const loaded = new Map<number, SegmentIndex>();
    await inParallel(sealed, async (segment) => {
      const index = await set.#load(segment);
      if (index === undefined) return;
      loaded.set(segment, index);
      await options.damage.recall(log.path(segment));
    });
    const without = sealed.filter((segment) => !loaded.has(segment));
    await set.#makeInThreads(without, loaded);
    for (const segment of sealed) {
      set.#indexes.push(loaded.get(segment) ?? (await set.#make(segment)));
    }
    set.#growing = await set.#replay(last);
    set.#adopt([...set.#indexes, set.#growing]);
    return set;
  }

  /** All indexes, the oldest segment's first. */
  get indexes(): readonly SegmentIndex[] {
    return this.#indexes;
  }

  /** The size of all segments in bytes. Read at each append, so the sum of the sealed segments is cached. */
  get bytes(): number {
    return this.#sealedBytes + this.#growing.bytes;
  }

  /** The index of the segment that takes the writes. */
  get growing(): GrowingIndex {
    return this.#growing;
  }

  /** Whether the active segment takes no further events: it was ended, or its index takes too much memory. */
  get isFull(): boolean {
    return this.#growing.isEnded || this.#growing.characters > MOST_CHARACTERS;
  }

  find(segment: number): SegmentIndex | undefined {
    return this.#indexes.find((index) => index.segment === segment);
  }

  /** Makes a new segment the active one, and seals the one before: writes its sidecar. */
  roll(segment: number): void {
    const previous = this.#growing;
    this.#growing = new GrowingIndex(segment);
    this.#adopt([...this.#indexes, this.#growing]);
    if (previous.rows > 0) void this.#writeInTurn(previous.segment, () => this.#seal(previous));
    else this.drop(previous.segment);
  }

  /**
   * Waits until there is memory for one more active segment. The index of a segment that is being sealed stays in memory,
   * and a client can send events of new names faster than sidecars are written: twenty such indexes took 1 GiB.
   */
  async room(): Promise<void> {
    const unsealed = this.#indexes.filter((index) => index instanceof GrowingIndex);
    const earlier = unsealed.filter((index) => index !== this.#growing);
    const characters = earlier.reduce((sum, index) => sum + index.characters, 0);
    if (characters > MOST_CHARACTERS) await this.#sealing.idle();
  }

  /** Removes a segment from the set. */
  drop(segment: number): void {
    this.#adopt(this.#indexes.filter((index) => index.segment !== segment));
  }

  /** Reads the indexes. If one turns out to be damaged, it is rebuilt, and the reading is repeated. */
  async read<T>(reading: (indexes: readonly SegmentIndex[]) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await reading(this.#indexes);
      } catch (error) {
        if (!(error instanceof SidecarDamaged)) throw error;
        await this.#remake(error.segment);
      }
    }
  }

  #remake(segment: number): Promise<void> {
    return this.#writeInTurn(segment, async () => {
      const before = this.find(segment);
      if (!(before instanceof SealedIndex)) return; // another query has rebuilt it
      this.#replace(before, await this.#make(segment));
      await before.close();
    });
  }

  /** Removes the files of dropped segments. Each leaves the set when it is done; others may have to stay. */
  async remove(due: readonly SegmentIndex[], leaving: Set<SegmentIndex>): Promise<void> {
    const { organization, removing, files, damage } = this.#options;
    const names = due.map(({ segment }) => basename(this.#log.path(segment)));
    const free = (await removing?.(organization, names)) ?? names;
    for (const index of due.filter((_, i) => free.includes(names[i] as string))) {
      // Later segments are not waited for: under steady writes one more always follows.
      if (this.#underWay?.segment === index.segment) await this.#underWay.end.catch(() => {});
      if (index instanceof SealedIndex) await index.close();
      await this.#log.remove(index.segment);
      await files.remove(this.#sidecarPath(index.segment));
      await damage.remove(this.#log.path(index.segment));
      leaving.delete(index);
    }
  }

  /** The sizes of all segments. */
  usage(): AuditUsage {
    const usage = { events: 0, bytes: 0, oldest: Infinity };
    for (const { rows, bytes, oldest } of this.#indexes) {
      usage.events += rows;
      usage.bytes += bytes;
      usage.oldest = Math.min(usage.oldest, oldest);
    }
    return { ...usage, oldest: usage.events === 0 ? undefined : usage.oldest };
  }

  async close(): Promise<void> {
    await this.#sealing.idle();
    for (const index of this.#indexes) if (index instanceof SealedIndex) await index.close();
  }

  /** Runs a task that writes the sidecar of a segment, after the earlier ones. */
  #writeInTurn(segment: number, task: () => Promise<void>): Promise<void> {
    return this.#sealing.run(() => (this.#underWay = { segment, end: task() }).end);
  }

  async #seal(growing: GrowingIndex): Promise<void> {
    if (!this.#indexes.includes(growing)) return;
    const sealed = await this.#write(growing);
    if (sealed !== undefined) this.#replace(growing, sealed);
  }

  #replace(before: SegmentIndex, after: SegmentIndex): void {
    this.#adopt(this.#indexes.map((index) => (index === before ? after : index)));
  }

  #adopt(indexes: SegmentIndex[]): void {
    this.#indexes = indexes;
    this.#sealedBytes = indexes
      .filter((index) => index !== this.#growing)
      .reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async #load(segment: number): Promise<SealedIndex | undefined> {
    const { size } = await this.#options.files.stat(this.#log.path(segment));
    const { files, reads } = this.#options;
    return SealedIndex.open(files, reads, this.#sidecarPath(segment), segment, size);
  }

  /** Builds missing indexes in threads, as far as possible, so that the main thread does not wait. */
  async #makeInThreads(
    segments: readonly number[],
    made: Map<number, SegmentIndex>,
  ): Promise<void> {
    const { files, threads, organization, damage } = this.#options;
    if (threads === undefined) return;
    let bytes = 0;
    for (const segment of segments) bytes += (await files.stat(this.#log.path(segment))).size;
    if (bytes < threads.worthwhileBytes) return;
    await inParallel(segments, async (segment) => {
      const [log, sidecar] = [this.#log.path(segment), this.#sidecarPath(segment)];
      if (!(await threads.make({ segment, organization, log, sidecar }))) return;
      const index = await this.#load(segment);
      if (index === undefined) return;
      made.set(segment, index);
      await damage.enter(new DamageFound(log)); // the thread found no damage
    });
  }

  async #make(segment: number): Promise<SegmentIndex> {
    const growing = await this.#replay(segment);
    return (await this.#write(growing)) ?? growing;
  }

  async #write(growing: GrowingIndex): Promise<SealedIndex | undefined> {
    const { files, reads, indexFailed } = this.#options;
    const path = this.#sidecarPath(growing.segment);
    try {
      const { size } = await files.stat(this.#log.path(growing.segment));
      await writeSidecar(files, path, growing, size);
      return await SealedIndex.open(files, reads, path, growing.segment, size);
    } catch (error) {
      indexFailed(error, path);
      return undefined;
    }
  }

  async #replay(segment: number): Promise<GrowingIndex> {
    const { organization, damage } = this.#options;
    const index = new GrowingIndex(segment);
    const found = new DamageFound(this.#log.path(segment));
    await this.#log.readManyLines(segment, (bytes, offset) => {
      indexLines(index, organization, bytes, offset, (line, at) => found.add(line, at));
    });
    await damage.enter(found);
    return index;
  }

  #sidecarPath(segment: number): string {
    return sidecarOf(this.#log.path(segment));
  }
}
