/**
 * Tiles of C2SP tlog-tiles: a tile of level L holds up to 256 consecutive hashes of subtrees of 256^L
 * leaves. Roots and proofs are computed from tiles, so a proof among ten million leaves reads three or four.
 */
import { HASH_BYTES, EMPTY_ROOT, isSize, nodeHash, perfectRoot } from "./merkle.ts";

/** The hashes of a full tile. */
export const TILE_WIDTH = 256;

/** The levels of the tree from the hashes of a tile to its root. */
export const TILE_HEIGHT = 8;

/** A tile's place, and how many hashes of it exist in a tree. */
export interface TilePlace {
  readonly level: number;
  readonly index: number;
  /** 1 to 256. */
  readonly width: number;
}

/** Reads at least the first `width` hashes of a tile. More are allowed: the tile may have grown since. */
export type TileReader = (level: number, index: number, width: number) => Buffer | Promise<Buffer>;

/** The width of a tile in a tree of this size; 0 if it does not exist there. */
export function tileWidth(size: number, level: number, index: number): number {
  const hashes = Math.floor(size / TILE_WIDTH ** level) - index * TILE_WIDTH;
  return Math.max(0, Math.min(TILE_WIDTH, hashes));
}

/** The path of a tile below `tile/`, such as `0/x001/234` and `1/000.p/17`. */
export function tilePath({ level, index, width }: TilePlace): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/\d{3}/g) ?? [];
  const partial = width < TILE_WIDTH ? `.p/${width}` : "";
  return `${level}/${groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join("/")}${partial}`;
}

/** The place that a path below `tile/` names, or `undefined` if no tile has it. */
export function parseTilePath(path: string): TilePlace | undefined {
  const [, level = "", groups = "", width] =
    /^(\d{1,2})\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path) ?? [];
  const place = {
    level: Number(level),
    index: Number(groups.replaceAll(/[x/]/g, "")),
    width: width === undefined ? TILE_WIDTH : Number(width),
  };
  // Only the one spelling of each place is accepted, so that a cache holds a tile once.
  const isPlace = groups !== "" && place.level < 64 && isSize(place.index) && place.width >= 1;
  return isPlace && tilePath(place) === path ? place : undefined;
}

/** The root of the tree's first `size` leaves. */
export async function rootFromTiles(size: number, read: TileReader): Promise<Buffer> {
  const [root] = await hashesOf(size > 0 ? [{ from: 0, to: size }] : [], size, read);
  return root ?? EMPTY_ROOT;
}

/**
 * The inclusion proof of RFC 6962 §2.1.1 for a leaf, from its sibling to the root's child.
 *
 * @throws RangeError if the tree of this size has no such leaf
 */
export async function inclusionProof(
  index: number,
  size: number,
  read: TileReader,
): Promise<readonly Buffer[]> {
  if (!isSize(index) || !isSize(size) || index >= size) {
    throw new RangeError(`A tree of ${size} leaves has no leaf ${index}`);
  }
  const ranges: Range[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + largestPowerBelow(to - from);
    if (index < middle) {
      ranges.unshift({ from: middle, to });
      to = middle;
    } else {
      ranges.unshift({ from, to: middle });
      from = middle;
    }
  }
  return hashesOf(ranges, size, read);
}

/**
 * The consistency proof of RFC 6962 §2.1.2 between two sizes of the tree. It is empty if they are equal or
 * the first is 0.
 *
 * @throws RangeError if the first size is larger
 */
export async function consistencyProof(
  first: number,
  size: number,
  read: TileReader,
): Promise<readonly Buffer[]> {
  if (!isSize(first) || !isSize(size) || first > size) {
    throw new RangeError(`A tree of ${size} leaves was never one of ${first}`);
  }
  if (first === 0) return [];
  const ranges: Range[] = [];
  let [from, to] = [0, size];
  while (to !== first) {
    const middle = from + largestPowerBelow(to - from);
    if (first <= middle) {
      ranges.unshift({ from: middle, to });
      to = middle;
    } else {
      ranges.unshift({ from, to: middle });
      from = middle;
    }
  }
  // The root of a first tree of 2^n leaves is known to the verifier.
  if (from > 0) ranges.unshift({ from, to });
  return hashesOf(ranges, size, read);
}

/** Consecutive leaves, as the recursion of RFC 6962 splits them: `from` is a multiple of the range's largest power of two. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** The hashes of ranges of a tree of this size. Each tile is read once; all are asked for together. */
async function hashesOf(
  ranges: readonly Range[],
  size: number,
  read: TileReader,
): Promise<Buffer[]> {
  const tiles = new Map<string, { place: TilePlace; hashes: Buffer }>();
  const parts = ranges.map((range) => perfectParts(range));
  for (const { level, index } of parts.flat().map(tileOf)) {
    const width = tileWidth(size, level, index);
    tiles.set(`${level}/${index}`, { place: { level, index, width }, hashes: EMPTY_ROOT });
  }
  await Promise.all(
    [...tiles.values()].map(async (tile) => {
      const { level, index, width } = tile.place;
      tile.hashes = await read(level, index, width);
      const missing = tile.hashes.length < width * HASH_BYTES;
      if (missing) throw new Error(`Tile ${tilePath(tile.place)} has too few hashes`);
    }),
  );
  return parts.map((subtrees) => {
    const hashes = subtrees.map((subtree) => {
      const { level, index, offset, count } = tileOf(subtree);
      const tile = tiles.get(`${level}/${index}`);
      return perfectRoot(tile?.hashes ?? EMPTY_ROOT, offset, count);
    });
    return hashes.reduceRight((right, left) => nodeHash(left, right));
  });
}

/** A perfect subtree: the one with this index among those of 2^height leaves. */
interface Subtree {
  readonly height: number;
  readonly index: number;
}

/** The perfect subtrees of a range, from left to right: one for each binary digit of its length. */
function perfectParts({ from, to }: Range): readonly Subtree[] {
  const parts: Subtree[] = [];
  let at = from;
  while (at < to) {
    const height = heightWithin(to - at);
    parts.push({ height, index: at / 2 ** height });
    at += 2 ** height;
  }
  return parts;
}

/** The tile from which a subtree's hash is computed, and the hashes of it that are the subtree's. */
function tileOf({ height, index }: Subtree) {
  const level = Math.floor(height / TILE_HEIGHT);
  const count = 2 ** (height % TILE_HEIGHT);
  const first = index * count;
  return { level, index: Math.floor(first / TILE_WIDTH), offset: first % TILE_WIDTH, count };
}

/** The height of the largest perfect tree of at most `leaves`. `Math.log2` rounds up near 2^48. */
function heightWithin(leaves: number): number {
  let height = 0;
  while (2 ** (height + 1) <= leaves) height++;
  return height;
}

/** The largest power of two that is smaller than `n`, for `n` above 1. */
function largestPowerBelow(n: number): number {
  return 2 ** heightWithin(n - 1);
}
