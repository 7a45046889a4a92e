/**
 * The file of a sealed segment's index, `000000000001.idx` beside `000000000001.jsonl`:
 *
 *     header, 32 bytes    magic "sbxindex" | format version | length of the table |
 *                         length of the columns | checksum of table and columns | length of the rest
 *     table               JSON: facts about the segment, and the position of each section
 *     columns             one section for each column, beginning at a multiple of eight bytes
 *     rest                sections that stay on disk: commands, rows by trace id, rows by the hash of the id
 *
 * The columns are read whole when an organization is opened. The rest is read on demand in pages of 64 KiB; the
 * checksums of the pages are a column. Numbers have the byte order of the machine, in practice little-endian: on a
 * machine of the other order the version does not match, and the index is rebuilt. A sidecar is a cache: if it is
 * missing, stale, damaged or of another version, it is rebuilt from the log.
 */
import { crc32 } from "node:zlib";
import type { Work } from "../../../../core/scheduling/work.ts";

const VERSION = 8;
export const MAGIC = "sbxindex";
export const HEADER_BYTES = 32;
export const PAGE_BYTES = 64 << 10;
const ALIGNMENT = 8;

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array } as const;
type TypeName = keyof typeof TYPES;
export type SectionArray = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** The position of a section, from the beginning of the columns or of the rest. */
export interface Section {
  readonly type: TypeName;
  readonly offset: number;
  readonly bytes: number;
}

export interface Table {
  readonly segment: number;
  readonly rows: number;
  /** The length of the log; a log of another length needs another index. */
  readonly bytes: number;
  readonly oldest: number;
  readonly newest: number;
  readonly newestIngested: number;
  /** `INDEXED_FIELDS` of the version that wrote the sidecar. */
  readonly fields: unknown;
  readonly columns: Readonly<Record<string, Section>>;
  readonly rest: Readonly<Record<string, Section>>;
}

/** The fields of a header. */
export interface Header {
  readonly tableBytes: number;
  readonly columnBytes: number;
  readonly checksum: number;
  readonly restBytes: number;
}

/** Writes a header. */
export function encodeHeader({ tableBytes, columnBytes, checksum, restBytes }: Header): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, 0, "latin1");
  new Uint32Array(header.buffer, header.byteOffset + MAGIC.length, 5).set([
    VERSION,
    tableBytes,
    columnBytes,
    checksum,
    restBytes,
  ]);
  return header;
}

/** Reads a header; `undefined` for another format. */
export function decodeHeader(bytes: Uint8Array): Header | undefined {
  const header = Buffer.from(bytes); // a copy, so that the numbers lie at a multiple of four
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC)
    return undefined;
  const numbers = Uint32Array.from({ length: 5 }, (_, i) =>
    header.readUInt32LE(MAGIC.length + 4 * i),
  );
  const [version, tableBytes = 0, columnBytes = 0, checksum = 0, restBytes = 0] = numbers;
  return version === VERSION ? { tableBytes, columnBytes, checksum, restBytes } : undefined;
}

/** Collects sections one after another, and records their positions. */
export class SectionWriter {
  readonly sections: Record<string, Section> = {};
  /** The bytes of the sections, with the padding between them. */
  readonly pieces: Uint8Array[] = [];
  length = 0;

  add(name: string, array: SectionArray): void {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    this.sections[name] = { type: typeOf(array), offset: this.length, bytes: bytes.length };
    const padding = alignedLength(bytes.length) - bytes.length;
    this.pieces.push(bytes, new Uint8Array(padding));
    this.length += bytes.length + padding;
  }
}

/** A section of the columns as an array over the same memory. */
export function arrayOf(columns: Uint8Array, section: Section): SectionArray {
  const Type = TYPES[section.type];
  const length = section.bytes / Type.BYTES_PER_ELEMENT;
  return new Type(columns.buffer as ArrayBuffer, columns.byteOffset + section.offset, length);
}

/** A length with the padding that follows it. */
export function alignedLength(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

/** The checksum of at most a few pages, or of a page whose beginning has the checksum `before`. */
export function checksumOf(bytes: Uint8Array, before = 0): number {
  return crc32(bytes, before);
}

/** The checksum of any number of bytes. */
export function* checksumInParts(bytes: Uint8Array): Work<number> {
  let checksum = 0;
  for (let at = 0; at < bytes.length; at += PAGE_BYTES) {
    checksum = crc32(bytes.subarray(at, at + PAGE_BYTES), checksum);
    yield;
  }
  return checksum;
}

function typeOf(array: SectionArray): TypeName {
  if (array instanceof Float64Array) return "f64";
  if (array instanceof Uint32Array) return "u32";
  return array instanceof Uint16Array ? "u16" : "u8";
}
