/**
 * The sections of a sidecar that stay on disk: commands, rows by trace id, rows by the hash of the id. The
 * first read of a page reads it whole and compares its checksum, and so detects damage.
 */
import type { ReadFiles } from "../../../read-files.ts";
import { checksumOf, HEADER_BYTES, PAGE_BYTES, type Header, type Section } from "./format.ts";
import type { Table } from "./format.ts";

const STEP_BYTES = 1 << 20;
const NUMBER = Uint32Array.BYTES_PER_ELEMENT;

/** Thrown if a page of a sidecar does not match its checksum; the segment must be indexed again. */
export class SidecarDamaged extends Error {
  readonly segment: number;

  constructor(segment: number) {
    super(`The index of segment ${segment} is damaged`);
    this.segment = segment;
  }
}

/** Reads the on-demand sections of one sidecar. */
export class OnDemandSections {
  readonly #reads: ReadFiles;
  readonly #path: string;
  readonly #segment: number;
  readonly #sections: Table["rest"];
  readonly #start: number;
  readonly #bytes: number;
  readonly #checksums: Uint32Array;
  readonly #checked: Uint8Array;

  /** `checksums` has the checksum of each page, in order. */
  constructor(
    reads: ReadFiles,
    path: string,
    header: Header,
    { segment, rest }: Table,
    checksums: Uint32Array,
  ) {
    this.#reads = reads;
    this.#path = path;
    this.#segment = segment;
    this.#sections = rest;
    this.#start = HEADER_BYTES + header.tableBytes + header.columnBytes;
    this.#bytes = header.restBytes;
    this.#checksums = checksums;
    this.#checked = new Uint8Array(checksums.length);
  }

  /** Reads all pages; throws `SidecarDamaged` when one does not match its checksum. */
  async check(): Promise<void> {
    for (const [name, { bytes }] of Object.entries(this.#sections)) {
      for (let at = 0; at < bytes; at += STEP_BYTES) {
        await this.read(name, at, Math.min(bytes, at + STEP_BYTES));
      }
    }
  }

  close(): Promise<void> {
    return this.#reads.forget(this.#path);
  }

  /**
   * Reads numbers of a section that consists of 32-bit numbers.
   *
   * @param room as for `read`, aligned
   */
  async numbers(name: string, index: number, count: number, room?: Buffer): Promise<Uint32Array> {
    const bytes = await this.read(name, index * NUMBER, (index + count) * NUMBER, room);
    return new Uint32Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, count);
  }

  /**
   * Reads a range of a section, into memory that is aligned to four bytes.
   *
   * @param room a buffer for the pages, used if it is long enough; it may be unaligned
   */
  async read(name: string, from: number, to: number, room?: Buffer): Promise<Buffer> {
    const start = (this.#sections[name] as Section).offset + from;
    const end = start + to - from;
    const firstPage = Math.floor(start / PAGE_BYTES);
    if (this.#checked.subarray(firstPage, Math.ceil(end / PAGE_BYTES)).every(Boolean)) {
      const bytes = roomFor(to - from, room);
      await this.#reads.read(this.#path, bytes, this.#start + start);
      return bytes;
    }
    const pagesStart = firstPage * PAGE_BYTES;
    const pagesEnd = Math.min(this.#bytes, Math.ceil(end / PAGE_BYTES) * PAGE_BYTES);
    const pages = roomFor(Math.max(0, pagesEnd - pagesStart), room);
    await this.#reads.read(this.#path, pages, this.#start + pagesStart);
    for (let at = 0; at < pages.length; at += PAGE_BYTES) {
      this.#check(firstPage + at / PAGE_BYTES, pages.subarray(at, at + PAGE_BYTES));
    }
    return pages.subarray(start - pagesStart, end - pagesStart);
  }

  #check(page: number, bytes: Uint8Array): void {
    if (this.#checked[page] === 1) return;
    if (checksumOf(bytes) !== this.#checksums[page]) throw new SidecarDamaged(this.#segment);
    this.#checked[page] = 1;
  }
}

function roomFor(length: number, room: Buffer = Buffer.alloc(0)): Buffer {
  return room.length >= length ? room.subarray(0, length) : Buffer.allocUnsafeSlow(length);
}
