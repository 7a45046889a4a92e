/**
 * The index of a sealed segment, from its sidecar. Its columns have the same form in memory as in the file;
 * only the table is parsed. The sections that stay on disk are read on demand; see `on-demand-sections.ts`.
 */
import { isDeepStrictEqual } from "node:util";
import type { Awaitable } from "../../../../core/caller.ts";
import { Yielder } from "../../../../core/scheduling/yielder.ts";
import type { FileOperations } from "../../../file-operations.ts";
import { readExactly, readInto, withFileIfAny } from "../../../file-ranges.ts";
import type { ReadFiles } from "../../../read-files.ts";
import type { FacetCombinations } from "./facet-counts.ts";
import { PackedDictionary } from "./dictionary.ts";
import { StoredDictionary } from "./stored-dictionary.ts";
import { hashOf } from "./hash.ts";
import { lowerBound } from "./sorting.ts";
import { TextFinder } from "./text-finder.ts";
import {
  byCodedName,
  INDEXED_FIELDS,
  type CodedName,
  type Column,
  type LongName,
} from "./fields.ts";
import type { CodedField, LocalRow, LongField, SegmentIndex } from "./segment-index.ts";
import {
  arrayOf,
  checksumInParts,
  decodeHeader,
  HEADER_BYTES,
  type Header,
} from "../sidecar/format.ts";
import type { Section, SectionArray, Table } from "../sidecar/format.ts";
import { OnDemandSections } from "../sidecar/on-demand-sections.ts";
import { runsWith, type SearchedText } from "./trigrams.ts";

const NO_ROWS = new Uint32Array(0);

/** The searched texts of a field, which stay on disk. */
class SealedLongField implements LongField {
  readonly codes: Column;
  readonly #ends: Uint32Array;
  readonly #filters: Uint32Array;
  readonly #name: LongName | CodedName;
  readonly #rest: OnDemandSections;

  constructor(
    name: LongName | CodedName,
    column: <T extends SectionArray>(name: string) => T,
    rest: OnDemandSections,
  ) {
    this.#name = name;
    this.#rest = rest;
    this.codes = column(`${name}.codes`);
    this.#ends = column(`${name}.ends`);
    this.#filters = column(`${name}.filters`);
  }

  get size(): number {
    return this.#ends.length;
  }

  /** Searches block by block; blocks whose filter rules out the text are not read. */
  async holding(
    { needle, bits, room }: SearchedText,
    yielder: Yielder,
  ): Promise<readonly number[]> {
    const ends = this.#ends;
    const finder = new TextFinder(needle, ends);
    for (const { first, end } of runsWith(this.#filters, ends, bits)) {
      finder.passTo(first);
      for (let at = ends[first - 1] ?? 0; finder.isBefore(at, end);) {
        const piece = await this.#rest.read(this.#name, at, finder.endOf(at, end), room);
        at = finder.search(piece, at);
        if (yielder.isDue) await yielder.step();
      }
    }
    return finder.found;
  }
}

/** The dictionary of a field, and the search in it. */
function dictionaryOf(
  name: CodedName,
  column: <T extends SectionArray>(name: string) => T,
  block: Uint8Array | undefined,
  rest: OnDemandSections,
): Pick<CodedField, "dictionary" | "holding"> {
  if (block !== undefined) {
    const dictionary = new PackedDictionary(block);
    return {
      dictionary,
      holding: ({ needle }, yielder) => yielder.run(dictionary.search(needle)),
    };
  }
  const columns = {
    digests: column<Uint32Array>(`${name}.digests`),
    digestCodes: column<Uint32Array>(`${name}.digestCodes`),
    textEnds: column<Uint32Array>(`${name}.textEnds`),
  };
  return {
    dictionary: new StoredDictionary(name, columns, rest),
    holding: (text, yielder) => new SealedLongField(name, column, rest).holding(text, yielder),
  };
}

/** An index that was read from its sidecar. */
export class SealedIndex implements SegmentIndex {
  readonly isSealed = true;
  readonly segment: number;
  readonly rows: number;
  readonly bytes: number;
  readonly oldest: number;
  readonly newest: number;
  readonly newestIngested: number;
  readonly times: Float64Array;
  readonly offsets: Uint32Array;
  readonly facets: Uint8Array;
  readonly fields: Readonly<Record<CodedName, CodedField>>;
  readonly packedCounts: Uint32Array;
  readonly combinations: FacetCombinations | undefined;
  readonly lastUsed: Float64Array;
  readonly longFields: Readonly<Record<LongName, LongField>>;
  readonly #traceHashes: Uint32Array;
  readonly #order: Uint32Array | undefined;
  readonly #rest: OnDemandSections;

  private constructor(
    reads: ReadFiles,
    path: string,
    header: Header,
    table: Table,
    columns: Buffer,
  ) {
    const column = <T extends SectionArray>(name: string): T =>
      arrayOf(columns, table.columns[name] as Section) as T;
    this.segment = table.segment;
    this.rows = table.rows;
    this.bytes = table.bytes;
    this.oldest = table.oldest;
    this.newest = table.newest;
    this.newestIngested = table.newestIngested;
    this.times = column("times");
    this.offsets = column("offsets");
    this.facets = column("facets");
    this.packedCounts = column("packedCounts");
    const columnIfAny = <T extends SectionArray>(name: string): T | undefined =>
      table.columns[name] === undefined ? undefined : column<T>(name);
    const rest = new OnDemandSections(reads, path, header, table, column("restChecksums"));
    this.fields = byCodedName((name) => ({
      codes: column<Column>(`${name}.codes`),
      counts: column<Uint32Array>(`${name}.counts`),
      byCombination: columnIfAny<Column>(`${name}.byCombination`),
      ...dictionaryOf(name, column, columnIfAny(`${name}.values`), rest),
    }));
    this.lastUsed = column("lastUsed");
    this.combinations = table.columns["combinations.facets"] && {
      facets: column("combinations.facets"),
      statuses: column("combinations.statuses"),
      policies: column("combinations.policies"),
      counts: column("combinations.counts"),
    };
    this.#traceHashes = column("traceHashes");
    this.#order = columnIfAny("order");
    this.#rest = rest;
    this.longFields = {
      command: new SealedLongField("command", column, rest),
      reason: new SealedLongField("reason", column, rest),
    };
  }

  /** Reads a sidecar; `undefined` if it is missing or does not describe a log of that length. */
  static open(
    files: FileOperations,
    reads: ReadFiles,
    path: string,
    segment: number,
    logBytes: number,
  ): Promise<SealedIndex | undefined> {
    return withFileIfAny(files, path, async (descriptor, size) => {
      if (size < HEADER_BYTES) return undefined;
      const header = decodeHeader(await readExactly(files, descriptor, 0, HEADER_BYTES));
      if (header === undefined) return undefined;
      const { tableBytes, columnBytes, restBytes } = header;
      const headBytes = tableBytes + columnBytes;
      if (size !== HEADER_BYTES + headBytes + restBytes) return undefined;
      const head = Buffer.from(new ArrayBuffer(headBytes)); // its own ArrayBuffer, so the columns are aligned
      await readInto(files, descriptor, head, HEADER_BYTES);
      if ((await new Yielder().run(checksumInParts(head))) !== header.checksum) return undefined;
      const table = JSON.parse(head.toString("utf8", 0, tableBytes)) as Table;
      if (table.segment !== segment || table.bytes !== logBytes) return undefined;
      if (!isDeepStrictEqual(table.fields, INDEXED_FIELDS)) return undefined;
      return new SealedIndex(reads, path, header, table, head.subarray(tableBytes));
    });
  }

  order(): Uint32Array | undefined {
    return this.#order;
  }

  rowsOfTrace(trace: string): Awaitable<Uint32Array> {
    const hash = hashOf(trace);
    const place = lowerBound(this.#traceHashes, hash);
    return this.#traceHashes[place] === hash ? this.#readTrace(trace, hash, place) : NO_ROWS;
  }

  /** Finds a trace id among the adjacent entries with its hash, from `place` on, by comparing texts. */
  async #readTrace(trace: string, hash: number, place: number): Promise<Uint32Array> {
    for (let at = place; this.#traceHashes[at] === hash; at++) {
      const [start = 0, end = 0] = await this.#rest.numbers("traceEnds", at, 2);
      const text = await this.#rest.read("traceTexts", start, end);
      if (text.toString("utf8") !== trace) continue;
      const [first = 0, last = 0] = await this.#rest.numbers("traceStarts", at, 2);
      return this.#rest.numbers("traceRows", first, last - first);
    }
    return NO_ROWS;
  }

  async rowsOfId(hash: number, room?: Buffer): Promise<readonly LocalRow[]> {
    // Hashes are distributed evenly, so the position of a hash can be predicted up to a few entries.
    const guess = Math.floor((hash / 2 ** 32) * this.rows);
    const margin = 8 + 4 * Math.ceil(Math.sqrt(this.rows));
    let from = Math.max(0, guess - margin);
    let to = Math.min(this.rows, guess + margin);
    let hashes = await this.#rest.numbers("idHashes", from, to - from, room);
    const isInside = (hashes[0] ?? hash) < hash && (hashes.at(-1) ?? hash) > hash;
    if (!isInside) {
      [from, to] = [0, this.rows];
      hashes = await this.#rest.numbers("idHashes", from, to);
    }
    const start = lowerBound(hashes, hash);
    let end = start;
    while (hashes[end] === hash) end++;
    return start === end
      ? []
      : ([...(await this.#rest.numbers("idRows", from + start, end - start))] as LocalRow[]);
  }

  /** Reads all sections on disk; throws `SidecarDamaged` if one does not match its checksums. */
  checkRest(): Promise<void> {
    return this.#rest.check();
  }

  close(): Promise<void> {
    return this.#rest.close();
  }

  async eachId(first: number, take: (hash: number, row: LocalRow) => void): Promise<void> {
    const hashes = await this.#rest.numbers("idHashes", 0, this.rows);
    const rows = await this.#rest.numbers("idRows", 0, this.rows);
    for (let i = 0; i < this.rows; i++) {
      const row = rows[i] as LocalRow;
      if (row >= first) take(hashes[i] as number, row);
    }
  }
}
