/**
 * Cuts the long texts of events, for pages and summaries. An event of some MiB is read part by part, and
 * only its short form is kept. A stored line never changes, so the short form is cached for the next
 * pages, in a cache that is bounded in bytes.
 */
import { Yielder } from "../../../../core/scheduling/yielder.ts";
import { TextCutter } from "../../../../core/json/text-cutter.ts";
import { portionsOf, type Slice } from "../../../segment-reader.ts";
import type { SegmentedLog } from "../../../segmented-log.ts";
import type { ByteCache } from "../../byte-cache.ts";
import { firstLine, LineParts } from "../write/lines.ts";

/** The bytes of a line that are read at once. */
export const PIECE_BYTES = 64 << 10;

/** The way to cut lines, and the cache of short forms. */
export interface Shortening {
  /** The number of characters kept of each text. */
  readonly characters: number;
  readonly kept: ByteCache<Buffer>;
  readonly organization: string;
}

/** The lines in some slices, shortened. */
export async function readShort(
  log: SegmentedLog,
  slices: readonly Slice[],
  { characters, kept, organization }: Shortening,
  signal: AbortSignal | undefined,
): Promise<readonly Buffer[]> {
  const yielder = new Yielder(signal);
  const lines: Buffer[] = [];
  for (const portion of portionsOf(slices, PIECE_BYTES)) {
    const [first] = portion;
    if (first !== undefined && first.length > PIECE_BYTES) {
      const key = `${organization} ${first.segment} ${first.offset} ${characters}`;
      const line = kept.get(key) ?? (await cutLong(log, first, characters, yielder));
      kept.keep(key, line, line.length);
      lines.push(line);
    } else {
      for (const bytes of await log.read(portion)) {
        const line = firstLine(bytes);
        // A line that is no longer than this has no text to cut.
        lines.push(line.length <= characters ? line : new TextCutter(characters).cut(line));
      }
    }
    await yielder.step();
  }
  return lines;
}

async function cutLong(
  log: SegmentedLog,
  slice: Slice,
  characters: number,
  yielder: Yielder,
): Promise<Buffer> {
  const cutter = new TextCutter(characters);
  const parts: Buffer[] = [];
  for await (const part of lineParts(log, slice, yielder))
    parts.push(Buffer.from(cutter.cut(part)));
  return Buffer.concat(parts);
}

/** The line in a slice, part by part. */
export async function* lineParts(
  log: SegmentedLog,
  { segment, offset, length }: Slice,
  yielder: Yielder,
): AsyncGenerator<Buffer> {
  const line = new LineParts();
  for (let at = 0; at < length; at += PIECE_BYTES) {
    const slice = { segment, offset: offset + at, length: Math.min(PIECE_BYTES, length - at) };
    const [bytes] = await log.read([slice]);
    const part = bytes && line.take(bytes);
    if (part === undefined) return;
    if (part.length > 0) yield part;
    await yielder.step();
  }
}
