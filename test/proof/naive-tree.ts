/** The definitions of RFC 6962 §2.1, written down as they stand there: the model of `src/proof`. */
import { createHash } from "node:crypto";
import { GrowingTree } from "../../src/proof/growing-tree.ts";
import { leafHash } from "../../src/proof/merkle.ts";
import type { TileReader } from "../../src/proof/tiles.ts";

const TILE_BYTES = 8192;

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The leaf of a line, by the definition: the hash of 0x00 and the line's SHA-256. */
export function naiveLeaf(line: string): Buffer {
  return sha256(Buffer.of(0), sha256(Buffer.from(line)));
}

function split(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** MTH(D[n]) over leaf hashes. */
export function naiveRoot(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return only;
  const k = split(leaves.length);
  return sha256(Buffer.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}

/** PATH(m, D[n]). */
export function naivePath(m: number, leaves: readonly Buffer[]): readonly Buffer[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return m < k
    ? [...naivePath(m, left), naiveRoot(right)]
    : [...naivePath(m - k, right), naiveRoot(left)];
}

/** SUBPROOF(m, D[n], b). */
export function naiveSubproof(m: number, leaves: readonly Buffer[], b = true): readonly Buffer[] {
  if (m === leaves.length) return b ? [] : [naiveRoot(leaves)];
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return m <= k
    ? [...naiveSubproof(m, left, b), naiveRoot(right)]
    : [...naiveSubproof(m - k, right, false), naiveRoot(left)];
}

/** A tree over lines that keeps its hashes in memory, and the tiles that its reader was asked for. */
export interface TiledTree {
  readonly tree: GrowingTree;
  readonly leaves: readonly Buffer[];
  readonly read: TileReader;
  readonly asked: string[];
}

/** Grows a tree over lines. */
export function tiledTree(lines: readonly string[]): TiledTree {
  const leaves = lines.map((line) => leafHash(Buffer.from(line)));
  const levels = [Buffer.concat(leaves)];
  const tree = new GrowingTree((level, hash) => {
    levels[level] = Buffer.concat([levels[level] ?? Buffer.alloc(0), hash]);
  });
  for (const leaf of leaves) tree.append(leaf);
  const asked: string[] = [];
  const read: TileReader = (level, index) => {
    asked.push(`${level}/${index}`);
    const tile = levels[level]?.subarray(index * TILE_BYTES, (index + 1) * TILE_BYTES);
    if (!tile || tile.length === 0) throw new Error(`There is no tile ${level}/${index}`);
    return tile;
  };
  return { tree, leaves, read, asked };
}

/** The lines of a log of this length. */
export function linesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `{"id":"${i}","command":"git push ${i * 7}"}`);
}
