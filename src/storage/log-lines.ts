/**
 * The lines of a log. A line is one JSON value, and what was appended together stands or falls
 * together: every line of an append but its last ends in a space before the newline. JSON does not
 * care for that space, `jq` and `grep` read past it, and after a crash it tells half an append, which
 * is dropped, from a whole one. What editors leave is read past as well: CRLF, empty lines, a byte
 * order mark. Zeros are a hole that a crash or a disk has left, since JSON holds none: a run of them
 * is given out like a line of its own, and so is what stands before and after it.
 */
import type { FileOperations } from "./file-operations.ts";

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
/** The byte order mark of UTF-8. */
const MARK = [0xef, 0xbb, 0xbf];

/** What stands between two lines of one append. */
export const CONTINUES = " \n";

/** What ends an append. */
export const ENDS = "\n";

/** So much is read at once; what is done with it holds the loop for a few milliseconds at most. */
const READ_BYTES = 512 << 10;
const TAIL_BYTES = 1 << 16;

/** How a file is read. */
export interface LogReading {
  /** The bytes that are read at once; a longer line is read whole. */
  readonly bytes?: number;
  /** Called between two reads, to let others have the event loop. */
  readonly pause?: () => Promise<void>;
}

/** Takes a line without its newline; `false` ends the reading. The bytes are valid meanwhile only. */
export type TakeLine = (line: Buffer, offset: number) => false | void;

/** Takes some lines, the last of which ends in a newline as well; else as `TakeLine`. */
export type TakeLines = (lines: Buffer, offset: number) => false | void;

/**
 * Reads a file line by line in pieces, so that no file has to fit into memory. Empty lines are left
 * out, and so is white space at a line's end; a last line without a newline is given like any other.
 */
export function readLines(
  files: FileOperations,
  path: string,
  take: TakeLine,
  reading: LogReading = {},
): Promise<void> {
  return readManyLines(files, path, (bytes, offset) => eachLine(bytes, offset, take), reading);
}

/** Reads a file in pieces of whole lines; a last line without a newline is given one. */
export async function readManyLines(
  files: FileOperations,
  path: string,
  take: TakeLines,
  { bytes = READ_BYTES, pause }: LogReading = {},
): Promise<void> {
  const descriptor = await files.open(path, "r");
  try {
    let buffer = Buffer.allocUnsafe(bytes);
    let filled = 0;
    let offset = 0; // of the buffer's first byte in the file
    for (;;) {
      // One byte is kept free for the newline that the last line may lack.
      if (filled === buffer.length - 1) buffer = Buffer.concat([buffer], buffer.length * 2);
      const count = await files.read(
        descriptor,
        buffer.subarray(filled, buffer.length - 1),
        offset + filled,
      );
      filled += count;
      let used = filled === 0 ? 0 : buffer.lastIndexOf(NEWLINE, filled - 1) + 1;
      let given = used;
      // The end of the file ends a line, and a hole, which may be long, is cut anywhere.
      const isHole = used === 0 && filled === buffer.length - 1 && buffer[filled - 1] === 0;
      if ((count === 0 || isHole) && used < filled) {
        buffer[filled] = NEWLINE;
        used = filled;
        given = filled + 1;
      }
      if (given > 0 && take(buffer.subarray(0, given), offset) === false) return;
      if (count === 0) return;
      await pause?.();
      buffer.copyWithin(0, used, filled);
      filled -= used;
      offset += used;
    }
  } finally {
    await files.close(descriptor);
  }
}

/**
 * Gives out the lines in some bytes, which are whole lines.
 *
 * @returns `false` when the taker wants no more
 */
export function eachLine(bytes: Buffer, offset: number, take: TakeLine): false | void {
  let start = 0;
  let hole = bytes.indexOf(0);
  while (start < bytes.length) {
    if (hole !== -1 && hole < start) hole = bytes.indexOf(0, start);
    if (isMark(bytes, start)) start += MARK.length;
    let end = hole === start ? endOfZeros(bytes, start) : bytes.indexOf(NEWLINE, start);
    let next = end + 1;
    if (hole === start) next = end;
    else if (hole !== -1 && hole < end) next = end = hole;
    const line = trimEnd(bytes.subarray(start, end));
    if (line.length > 0 && take(line, offset + start) === false) return false;
    start = next;
  }
}

function isMark(bytes: Buffer, at: number): boolean {
  return bytes[at] === MARK[0] && bytes[at + 1] === MARK[1] && bytes[at + 2] === MARK[2];
}

function endOfZeros(bytes: Buffer, start: number): number {
  let end = start;
  while (bytes[end] === 0) end++;
  return end;
}

function trimEnd(line: Buffer): Buffer {
  let end = line.length;
  while (end > 0 && isBlankByte(line[end - 1])) end--;
  return end === line.length ? line : line.subarray(0, end);
}

/** Whether a byte is white space that may stand at the end of a line. */
export function isBlankByte(byte: number | undefined): boolean {
  return byte === SPACE || byte === RETURN || byte === TAB;
}

/** Finds where the last whole append of a file ends; 0 when there is none. */
export async function endOfLastAppend(
  files: FileOperations,
  descriptor: number,
  size: number,
): Promise<number> {
  for (let window = TAIL_BYTES; ; window *= 2) {
    const start = Math.max(0, size - window);
    const tail = await readExactly(files, descriptor, start, size - start);
    const end = lastEnd(tail);
    // What makes an end is up to three bytes, all of which have to be in sight.
    if (start === 0 || end > 2) return end === 0 ? 0 : start + end;
  }
}

function lastEnd(bytes: Buffer): number {
  for (let i = bytes.lastIndexOf(NEWLINE); i >= 0;) {
    const before = bytes[i - 1] === RETURN ? bytes[i - 2] : bytes[i - 1];
    if (before !== SPACE) return i + 1;
    if (i === 0) return 0;
    i = bytes.lastIndexOf(NEWLINE, i - 1);
  }
  return 0;
}

/**
 * Reads a range of a file.
 *
 * @throws Error when the file ends before the range does
 */
export async function readExactly(
  files: FileOperations,
  descriptor: number,
  offset: number,
  length: number,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  await readInto(files, descriptor, bytes, offset);
  return bytes;
}

/**
 * Fills some memory from a place in a file.
 *
 * @throws Error when the file ends before the memory is full
 */
export async function readInto(
  files: FileOperations,
  descriptor: number,
  target: Buffer,
  offset: number,
): Promise<void> {
  for (let filled = 0; filled < target.length;) {
    const count = await files.read(descriptor, target.subarray(filled), offset + filled);
    if (count === 0)
      throw new Error(`The file ends at byte ${offset + filled}, sooner than expected`);
    filled += count;
  }
}
