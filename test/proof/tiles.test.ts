import assert from "node:assert/strict";
import { test } from "node:test";
import { GrowingTree } from "../../src/proof/growing-tree.ts";
import { HASH_BYTES, verifyInclusion } from "../../src/proof/merkle.ts";
import {
  consistencyProof,
  inclusionProof,
  parseTilePath,
  rootFromTiles,
  tilePath,
  tileWidth,
  type TileReader,
} from "../../src/proof/tiles.ts";
import { linesOf, naivePath, naiveRoot, naiveSubproof, tiledTree } from "./naive-tree.ts";
import { verifyConsistency } from "./verify-consistency.ts";

const SIZE = 600;
const { tree, leaves, read, asked } = tiledTree(linesOf(SIZE));
/** Sizes at and around the edges of subtrees and tiles, and some between. */
const SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 100, 255, 256, 257, 300, 511, 512, 513, 599, 600];

test("the root of every size is the root of the definition", async () => {
  const grown = new GrowingTree(() => {});
  assert.deepEqual(grown.root(), naiveRoot([]));
  assert.deepEqual(await rootFromTiles(0, read), naiveRoot([]));
  for (let size = 1; size <= SIZE; size++) {
    grown.append(leaves[size - 1] as Buffer);
    const expected = naiveRoot(leaves.slice(0, size));
    assert.deepEqual(grown.root(), expected, String(size));
    assert.deepEqual(await rootFromTiles(size, read), expected, String(size));
  }
});

test("every inclusion proof in trees of many sizes is the path of the definition", async () => {
  for (const size of SIZES) {
    const own = leaves.slice(0, size);
    for (let index = 0; index < size; index += size < 70 ? 1 : 13) {
      const proof = await inclusionProof(index, size, read);
      assert.deepEqual(proof, naivePath(index, own), `${index} of ${size}`);
    }
  }
});

test("the consistency proof between any two of many sizes is that of the definition", async () => {
  for (const to of SIZES) {
    for (const from of SIZES.filter((size) => size <= to)) {
      const proof = await consistencyProof(from, to, read);
      assert.deepEqual(proof, naiveSubproof(from, leaves.slice(0, to)), `${from} to ${to}`);
    }
    assert.deepEqual(await consistencyProof(0, to, read), []);
  }
});

test("a leaf or a size that the tree does not have is refused", async () => {
  await assert.rejects(inclusionProof(5, 5, read), /A tree of 5 leaves has no leaf 5/);
  await assert.rejects(inclusionProof(-1, 5, read), RangeError);
  await assert.rejects(consistencyProof(6, 5, read), /A tree of 5 leaves was never one of 6/);
});

test("a tile that is too short is an error, not a proof", async () => {
  const short: TileReader = async (level, index, width) =>
    (await read(level, index, width)).subarray(0, width * HASH_BYTES - 1);
  await assert.rejects(inclusionProof(3, 300, short), /Tile 0\/\d+.* has too few hashes/);
  await assert.rejects(
    GrowingTree.resume(300, short, () => {}),
    /has fewer than 44 hashes/,
  );
});

test("appending many hashes at once is the same as one by one", () => {
  const hashes: [level: number, hash: string][] = [];
  const grown = new GrowingTree((level, hash) => void hashes.push([level, hash.toString("hex")]));
  grown.append(Buffer.concat(leaves));
  assert.equal(grown.size, SIZE);
  assert.deepEqual(grown.root(), tree.root());
  const roots = [0, 256].map((from) => naiveRoot(leaves.slice(from, from + 256)).toString("hex"));
  assert.deepEqual(
    hashes,
    roots.map((root) => [1, root]),
  );
});

test("a tree continues from its tiles at any size as if it had never stopped", async () => {
  for (const size of SIZES) {
    const resumed = await GrowingTree.resume(size, read, () => {});
    assert.deepEqual(resumed.root(), naiveRoot(leaves.slice(0, size)), String(size));
    resumed.append(Buffer.concat(leaves.slice(size)));
    assert.deepEqual([resumed.size, resumed.root()], [SIZE, tree.root()]);
  }
});

/** A tree of 256³ + 256² + 257 leaves of which each subtree of 256 is the same; only its tiles are made. */
function largeTree(): { size: number; read: TileReader; asked: string[] } {
  const leafTile = Buffer.concat(leaves.slice(0, 256));
  const rootOver = (tile: Buffer): Buffer => {
    const grown = new GrowingTree(() => {});
    grown.append(tile);
    return grown.root();
  };
  const levels = [leafTile];
  for (let level = 1; level < 4; level++) {
    const below = rootOver(levels[level - 1] as Buffer);
    levels.push(Buffer.concat(Array.from({ length: 256 }, () => below)));
  }
  const places: string[] = [];
  return {
    size: 256 ** 3 + 256 ** 2 + 257,
    asked: places,
    read(level, index, width) {
      places.push(`${level}/${index}`);
      return (levels[level] as Buffer).subarray(0, width * HASH_BYTES);
    },
  };
}

test("a proof among 16,843,009 leaves reads a tile for each level, and verifies", async () => {
  const large = largeTree();
  const root = await rootFromTiles(large.size, large.read);
  for (const index of [0, 1_234_567, 256 ** 3 - 1, 256 ** 3, large.size - 1]) {
    large.asked.length = 0;
    const proof = await inclusionProof(index, large.size, large.read);
    assert.ok(large.asked.length <= 6, large.asked.join(" "));
    assert.equal(new Set(large.asked).size, large.asked.length);
    // The last leaf stands alone in its tile, and has the hash of the first of any other.
    const leaf = leaves[index % 256] as Buffer;
    assert.ok(verifyInclusion(leaf, index, large.size, proof, root), String(index));
  }
  for (const from of [1, 70_000, 256 ** 2, 256 ** 3 + 1]) {
    large.asked.length = 0;
    const proof = await consistencyProof(from, large.size, large.read);
    assert.ok(large.asked.length <= 7, large.asked.join(" "));
    const before = await rootFromTiles(from, large.read);
    assert.ok(verifyConsistency(from, large.size, proof, before, root), String(from));
  }
});

test("a proof asks for each tile once, with the width of the tree's size", async () => {
  asked.length = 0;
  const widths = new Map<string, number>();
  await inclusionProof(299, 300, (level, index, width) => {
    widths.set(`${level}/${index}`, width);
    return read(level, index, width);
  });
  assert.deepEqual(Object.fromEntries(widths), { "0/1": 44, "1/0": 1 });
  assert.deepEqual([...asked].sort(), ["0/1", "1/0"]);
});

test("tiles have the widths of the example in the specification", () => {
  const widths = [
    [0, 272],
    [0, 273],
    [1, 0],
    [1, 1],
    [2, 0],
    [3, 0],
  ].map(([level = 0, index = 0]) => tileWidth(70_000, level, index));
  assert.deepEqual(widths, [256, 112, 256, 17, 1, 0]);
  assert.equal(tileWidth(256, 1, 0), 1);
});

test("tiles have the paths of the specification, and one spelling each", () => {
  for (const [level, index, width, path] of [
    [0, 1_234_067, 256, "0/x001/x234/067"],
    [0, 0, 256, "0/000"],
    [1, 999, 17, "1/999.p/17"],
    [63, 1000, 255, "63/x001/000.p/255"],
  ] as const) {
    assert.equal(tilePath({ level, index, width }), path);
    assert.deepEqual(parseTilePath(path), { level, index, width });
  }
  for (const other of [
    ...["", "0", "0/", "0/1", "00/001", "64/000", "0/x001", "0/001/002", "0/x000/001", "-1/000"],
    ...["0/000.p/0", "0/000.p/256", "0/000.p/01", "0/000.p/", "0/000.q/1", "0/000/", "a/000"],
    ...["0/x999/x999/x999/x999/x999/999", "0/000\n"],
  ]) {
    assert.equal(parseTilePath(other), undefined, other);
  }
});
