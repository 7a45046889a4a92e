/** A log with its tiles and checkpoints in memory, as a check reads it, to be tampered with. */
import { HASH_BYTES } from "../../src/proof/merkle.ts";
import type { KnownCheckpoint, StoredLog } from "../../src/proof/stored-log.ts";
import { rootFromTiles, TILE_WIDTH, tileWidth } from "../../src/proof/tiles.ts";
import { tiledTree } from "./naive-tree.ts";

export interface MemoryLog extends StoredLog {
  /** The bytes of each segment. */
  readonly segments: Map<string, Buffer>;
  /** Each stored tile, by level and index. */
  readonly tiles: Map<string, Buffer>;
  readonly checkpoints: KnownCheckpoint[];
}

/** Stores lines in segments of this many, with full tiles, and checkpoints at these sizes. */
export async function memoryLog(
  lines: readonly string[],
  aSegment: number,
  sizes: readonly number[],
  isPartialKept = false,
): Promise<MemoryLog> {
  const { read } = tiledTree(lines);
  const segments = new Map<string, Buffer>();
  for (let i = 0; i * aSegment < lines.length; i++) {
    const own = lines.slice(i * aSegment, (i + 1) * aSegment);
    segments.set(`${i + 1}.jsonl`, Buffer.from(own.map((line) => `${line}\n`).join("")));
  }
  const tiles = new Map<string, Buffer>();
  for (let level = 0; level < 2; level++) {
    const count = Math.floor(lines.length / TILE_WIDTH ** (level + 1));
    for (let i = 0; i < count; i++) {
      tiles.set(`${level}/${i}`, Buffer.from(await read(level, i, TILE_WIDTH)));
    }
    const width = tileWidth(lines.length, level, count);
    if (isPartialKept && width > 0) {
      tiles.set(`${level}/${count}`, Buffer.from(await read(level, count, width)));
    }
  }
  const checkpoints = await Promise.all(
    sizes.map(async (size) => ({
      ...{ size, root: await rootFromTiles(size, read), name: `checkpoint ${size}` },
    })),
  );
  return { ...logOf(segments, tiles, 0), checkpoints };
}

/** The log over these bytes, from an index on. */
export function logOf(
  segments: Map<string, Buffer>,
  tiles: Map<string, Buffer>,
  first: number,
): Omit<MemoryLog, "checkpoints"> {
  return {
    segments,
    tiles,
    first,
    unit: "line",
    directory: "log",
    async readLines(take) {
      for (const [file, bytes] of segments) {
        for (const [i, text] of bytes.toString("latin1").split("\n").entries()) {
          const line = text.replace(/[ \t\r]+$/, "");
          if (line !== "") take(Buffer.from(line, "latin1"), file, i + 1);
        }
      }
    },
    readTile: async (level, index) => tiles.get(`${level}/${index}`),
    tileFile: (level) => `hashes-${level}`,
  };
}

/** A copy to tamper with. */
export function copyOf(log: MemoryLog): MemoryLog {
  const segments = new Map([...log.segments].map(([name, bytes]) => [name, Buffer.from(bytes)]));
  const tiles = new Map([...log.tiles].map(([name, bytes]) => [name, Buffer.from(bytes)]));
  return { ...logOf(segments, tiles, log.first), checkpoints: [...log.checkpoints] };
}

/** Flips a bit of a byte. */
export function flip(bytes: Buffer | undefined, at: number, bit = 1): void {
  if (bytes) bytes[at] = (bytes[at] as number) ^ bit;
}

/** The hash of a tile. */
export function hashIn(tile: Buffer | undefined, index: number): string {
  return tile?.toString("base64", index * HASH_BYTES, (index + 1) * HASH_BYTES) ?? "";
}
