/**
 * The lines of a log. A line is one JSON value. An append is atomic: each of its lines except the last ends in a
 * space before the newline. JSON allows that space, and `jq` and `grep` ignore it. After a crash it distinguishes a
 * torn append, which is dropped, from a whole one. CRLF, empty lines and a byte order mark, which editors may leave,
 * are skipped as well. JSON has no zero bytes, so zeros are a hole that a crash or a disk has left: a run of zeros
 * counts as a line, and so does the text before and after it.
 */
import type { FileOperations } from "./file-operations.ts";
import { readExactly, withFile } from "./file-ranges.ts";

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
/** The byte order mark of UTF-8. */
const MARK = [0xef, 0xbb, 0xbf];

/** The separator of two lines of one append. */
export const CONTINUES = " \n";

/** The end of an append. */
export const ENDS = "\n";

/** The bytes of one read. Their processing holds the loop for a few milliseconds at most. */
const READ_BYTES = 512 << 10;
const TAIL_BYTES = 1 << 16;

/** The way to read a file. */
interface LogReading {
  /** The bytes of one read; a longer line is read whole. */
  readonly bytes?: number;
  /** Called between two reads, to yield the event loop. */
  readonly pause?: () => Promise<void>;
}

/** Receives a line without its newline; `false` ends the reading. The bytes are valid only during the call. */
export type TakeLine = (line: Buffer, offset: number) => false | void;

/** Receives several lines, each with its newline; otherwise like `TakeLine`. */
export type TakeLines = (lines: Buffer, offset: number) => false | void;

/**
 * Reads a file line by line in pieces, so that no file has to fit into memory. Empty lines and white space at
 * the end of a line are left out; a last line without a newline is passed on like any other.
 *
 * @param end the reading ends before the first line that begins here or later
 */
export function readLines(
  files: FileOperations,
  path: string,
  take: TakeLine,
  { end = Infinity, ...reading }: LogReading & { readonly end?: number } = {},
): Promise<void> {
  const takeBefore: TakeLine = (line, offset) => (offset < end ? take(line, offset) : false);
  return readManyLines(
    files,
    path,
    (bytes, offset) => eachLine(bytes, offset, takeBefore),
    reading,
  );
}

/** Reads a file in pieces of whole lines; adds a newline to a last line without one. */
export async function readManyLines(
  files: FileOperations,
  path: string,
  take: TakeLines,
  { bytes = READ_BYTES, pause }: LogReading = {},
): Promise<void> {
  await withFile(files, path, "r", async (descriptor) => {
    let buffer = Buffer.allocUnsafe(bytes);
    let filled = 0;
    let offset = 0; // offset of the buffer's first byte in the file
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
      // The end of the file ends a line. A hole, which may be long, is cut anywhere.
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
  });
}

/**
 * Passes on the lines in some bytes, which are whole lines.
 *
 * @returns `false` if `take` ended the reading
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

/** Whether a byte is white space that is allowed at the end of a line. */
function isBlankByte(byte: number | undefined): boolean {
  return byte === SPACE || byte === RETURN || byte === TAB;
}

/** Finds the end of the last whole append of a log that is not open; 0 if there is none. */
export function endOfLog(files: FileOperations, path: string, size: number): Promise<number> {
  return withFile(files, path, "r", (descriptor) => endOfLastAppend(files, descriptor, size));
}

/** Finds the end of the last whole append of a file; 0 if there is none. */
export async function endOfLastAppend(
  files: FileOperations,
  descriptor: number,
  size: number,
): Promise<number> {
  for (let window = TAIL_BYTES; ; window *= 2) {
    const start = Math.max(0, size - window);
    const tail = await readExactly(files, descriptor, start, size - start);
    const end = lastEnd(tail);
    // The end of an append is recognised by up to three bytes, which must all be in the buffer.
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
