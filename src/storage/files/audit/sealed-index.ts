/**
 * The index of a sealed segment, from its sidecar. Its columns lie in memory as they lie in the file;
 * nothing is parsed but the table. What stays on disk is read in whole pages, and the checksum of
 * each is compared the first time it is read.
 */
import { setImmediate as turn } from "node:timers/promises";
import type { Awaitable } from "../../../core/caller.ts";
import type { FileOperations } from "../../file-operations.ts";
import { readExactly } from "../../log-lines.ts";
import { lowerBound, PackedDictionary, type Dictionary } from "./dictionary.ts";
import { hashOf } from "./hash.ts";
import { FIELDS, type Column, type SegmentIndex } from "./segment-index.ts";
import { arrayOf, checksumOf, decodeHeader, HEADER_BYTES, PAGE_BYTES } from "./sidecar-format.ts";
import type { Header, Section, SectionArray, Table } from "./sidecar-format.ts";
import { BLOCK_ROWS } from "./trigrams.ts";

const STEP_BYTES = 1 << 20;
const NUMBER = Uint32Array.BYTES_PER_ELEMENT;

/** A sidecar does not hold what its checksums say; its segment has to be indexed again. */
export class SidecarDamaged extends Error {
  readonly segment: number;

  constructor(segment: number) {
    super(`The index of segment ${segment} is damaged`);
    this.segment = segment;
  }
}

/** An index that was read from its sidecar. */
export class SealedIndex implements SegmentIndex {
  readonly segment: number;
  readonly rows: number;
  readonly bytes: number;
  readonly oldest: number;
  readonly newest: number;
  readonly newestIngested: number;
  readonly times: Float64Array;
  readonly offsets: Uint32Array;
  readonly kinds: Uint8Array;
  readonly codes: readonly Column[];
  readonly dictionaries: readonly Dictionary[];
  readonly counts: readonly Uint32Array[];
  readonly kindCounts: Uint32Array;
  readonly providerKinds: Uint32Array | undefined;
  readonly lastUsed: Float64Array;
  readonly traces: Column;
  readonly textStarts: Uint32Array;
  readonly filters: Uint8Array;
  readonly filteredRows: number;
  readonly #traceHashes: Uint32Array;
  readonly #order: Uint32Array | undefined;
  readonly #files: FileOperations;
  readonly #path: string;
  readonly #rest: Table["rest"];
  readonly #restStart: number;
  readonly #restBytes: number;
  readonly #restChecksums: Uint32Array;
  readonly #checked: Uint8Array;
  #descriptor: Promise<number> | undefined;

  private constructor(
    files: FileOperations,
    path: string,
    header: Header,
    table: Table,
    columns: Buffer,
  ) {
    this.#files = files;
    this.#path = path;
    this.#rest = table.rest;
    this.#restStart = HEADER_BYTES + header.tableBytes + header.columnBytes;
    this.#restBytes = header.restBytes;
    const column = <T extends SectionArray>(name: string): T =>
      arrayOf(columns, table.columns[name] as Section) as T;
    const columnIfAny = <T extends SectionArray>(name: string): T | undefined =>
      table.columns[name] === undefined ? undefined : column<T>(name);
    this.segment = table.segment;
    this.rows = table.rows;
    this.bytes = table.bytes;
    this.oldest = table.oldest;
    this.newest = table.newest;
    this.newestIngested = table.newestIngested;
    this.times = column("times");
    this.offsets = column("offsets");
    this.textStarts = column("textStarts");
    this.kinds = column("kinds");
    this.kindCounts = column("kindCounts");
    this.filters = column("filters");
    this.filteredRows = this.rows - (this.rows % BLOCK_ROWS);
    this.codes = FIELDS.map((name) => column<Column>(`${name}.codes`));
    this.counts = FIELDS.map((name) => column<Uint32Array>(`${name}.counts`));
    this.dictionaries = FIELDS.map((name) => new PackedDictionary(column(`${name}.values`)));
    this.lastUsed = column("lastUsed");
    this.providerKinds = columnIfAny("providerKinds");
    this.traces = column("traces");
    this.#traceHashes = column("traceHashes");
    this.#order = columnIfAny("order");
    this.#restChecksums = column("restChecksums");
    this.#checked = new Uint8Array(this.#restChecksums.length);
  }

  /** Reads a sidecar; `undefined` when there is none that describes a log of that length. */
  static async open(
    files: FileOperations,
    path: string,
    segment: number,
    logBytes: number,
  ): Promise<SealedIndex | undefined> {
    let descriptor: number;
    try {
      descriptor = await files.open(path, "r");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
    try {
      const { size } = await files.stat(path);
      if (size < HEADER_BYTES) return undefined;
      const header = decodeHeader(await readExactly(files, descriptor, 0, HEADER_BYTES));
      if (header === undefined) return undefined;
      const { tableBytes, columnBytes, restBytes } = header;
      const headBytes = tableBytes + columnBytes;
      if (size !== HEADER_BYTES + headBytes + restBytes) return undefined;
      const head = Buffer.from(new ArrayBuffer(headBytes)); // alone in its memory, hence aligned
      await readInto(files, descriptor, head, HEADER_BYTES);
      if ((await checksumInTurns(head)) !== header.checksum) return undefined;
      const table = JSON.parse(head.toString("utf8", 0, tableBytes)) as Table;
      if (table.segment !== segment || table.bytes !== logBytes) return undefined;
      return new SealedIndex(files, path, header, table, head.subarray(tableBytes));
    } finally {
      await files.close(descriptor);
    }
  }

  order(): Uint32Array | undefined {
    return this.#order;
  }

  traceCode(trace: string): Awaitable<number | undefined> {
    const hash = hashOf(trace);
    const isThere = this.#traceHashes[lowerBound(this.#traceHashes, hash)] === hash;
    return isThere ? this.#readTraceCode(trace) : undefined;
  }

  async #readTraceCode(trace: string): Promise<number | undefined> {
    const { bytes } = this.#rest["traceValues"] as Section;
    return new PackedDictionary(await this.#read("traceValues", 0, bytes)).codeOf(trace);
  }

  async text(from: number, to: number): Promise<string> {
    return (await this.#read("text", from, to)).toString("latin1");
  }

  async rowsOfId(hash: number): Promise<readonly number[]> {
    // Hashes are spread evenly, so the place of one is known but for a few neighbours.
    const guess = Math.floor((hash / 2 ** 32) * this.rows);
    const margin = 8 + 4 * Math.ceil(Math.sqrt(this.rows));
    let from = Math.max(0, guess - margin);
    let to = Math.min(this.rows, guess + margin);
    let hashes = await this.#numbers("idHashes", from, to - from);
    const isInside = (hashes[0] ?? hash) < hash && (hashes.at(-1) ?? hash) > hash;
    if (!isInside) {
      [from, to] = [0, this.rows];
      hashes = await this.#numbers("idHashes", from, to);
    }
    const start = lowerBound(hashes, hash);
    let end = start;
    while (hashes[end] === hash) end++;
    return start === end ? [] : [...(await this.#numbers("idRows", from + start, end - start))];
  }

  async close(): Promise<void> {
    const opening = this.#descriptor;
    this.#descriptor = undefined;
    const descriptor = await opening?.catch(() => undefined);
    if (descriptor !== undefined) await this.#files.close(descriptor);
  }

  async #numbers(name: string, index: number, count: number): Promise<Uint32Array> {
    const bytes = await this.#read(name, index * NUMBER, (index + count) * NUMBER);
    return new Uint32Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, count);
  }

  /** Reads a range of a section of the rest, which begins at a multiple of four bytes in memory. */
  async #read(name: string, from: number, to: number): Promise<Buffer> {
    const start = (this.#rest[name] as Section).offset + from;
    const end = start + to - from;
    const firstPage = Math.floor(start / PAGE_BYTES);
    const pagesStart = firstPage * PAGE_BYTES;
    const pagesEnd = Math.min(this.#restBytes, Math.ceil(end / PAGE_BYTES) * PAGE_BYTES);
    const pages = Buffer.from(new ArrayBuffer(Math.max(0, pagesEnd - pagesStart)));
    this.#descriptor ??= this.#files.open(this.#path, "r");
    await readInto(this.#files, await this.#descriptor, pages, this.#restStart + pagesStart);
    for (let at = 0; at < pages.length; at += PAGE_BYTES) {
      this.#check(firstPage + at / PAGE_BYTES, pages.subarray(at, at + PAGE_BYTES));
    }
    return pages.subarray(start - pagesStart, end - pagesStart);
  }

  #check(page: number, bytes: Uint8Array): void {
    if (this.#checked[page] === 1) return;
    if (checksumOf(bytes) !== this.#restChecksums[page]) throw new SidecarDamaged(this.segment);
    this.#checked[page] = 1;
  }
}

async function readInto(
  files: FileOperations,
  descriptor: number,
  target: Buffer,
  position: number,
): Promise<void> {
  for (let filled = 0; filled < target.length;) {
    const count = await files.read(descriptor, target.subarray(filled), position + filled);
    if (count === 0) throw new Error(`The file ends at byte ${position + filled}`);
    filled += count;
  }
}

async function checksumInTurns(bytes: Uint8Array): Promise<number> {
  let checksum = 0;
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    checksum = checksumOf(bytes.subarray(at, at + STEP_BYTES), checksum);
    await turn();
  }
  return checksum;
}
