import assert from "node:assert/strict";
import { test } from "node:test";
import { leafHash, nodeHash, perfectRoot, verifyInclusion } from "../../src/proof/merkle.ts";
import { linesOf, naiveLeaf, naivePath, naiveRoot, naiveSubproof } from "./naive-tree.ts";
import { verifyConsistency } from "./verify-consistency.ts";

const leaves = linesOf(130).map(naiveLeaf);
const roots = leaves.map((_, i) => naiveRoot(leaves.slice(0, i + 1)));
const leafAt = (index: number): Buffer => leaves[index] as Buffer;
const rootOf = (size: number): Buffer => roots[size - 1] as Buffer;
const flipped = (hash: Buffer): Buffer => {
  const other = Buffer.from(hash);
  other[7] = (other[7] as number) ^ 1;
  return other;
};

test("leaves and nodes are hashed as RFC 6962 says", () => {
  for (const line of ["", "{}", "ü".repeat(500), "x".repeat(100_000)]) {
    assert.deepEqual(leafHash(Buffer.from(line)), naiveLeaf(line));
    assert.deepEqual(leafHash(line), naiveLeaf(line));
  }
  assert.deepEqual(nodeHash(leafAt(0), leafAt(1)), rootOf(2));
  for (const count of [1, 2, 8, 128]) {
    assert.deepEqual(perfectRoot(Buffer.concat(leaves), 0, count), rootOf(count));
  }
});

test("every inclusion proof is accepted, and for no other leaf, index, size or root", () => {
  for (let size = 1; size <= 40; size++) {
    for (let index = 0; index < size; index++) {
      const proof = naivePath(index, leaves.slice(0, size));
      const verify = (at: number, of: number, leaf = leafAt(index), root = rootOf(size)) =>
        verifyInclusion(leaf, at, of, proof, root);
      assert.ok(verify(index, size), `${index} of ${size}`);
      for (let other = 0; other < size; other++) {
        if (other !== index) assert.ok(!verify(other, size), `${index} as ${other} of ${size}`);
        if (other !== index) assert.ok(!verify(index, size, leafAt(other)));
      }
      assert.ok(!verify(index, size, flipped(leafAt(index))));
      assert.ok(!verify(index, size, leafAt(index), flipped(rootOf(size))));
      for (const odd of [-1, size, size + 1, 0.5, Number.NaN, 2 ** 53]) {
        assert.ok(!verify(odd, size));
      }
    }
  }
});

test("an inclusion proof with any changed, missing, added or swapped hash is refused", () => {
  for (let size = 1; size <= 40; size++) {
    for (let index = 0; index < size; index++) {
      const proof = naivePath(index, leaves.slice(0, size));
      for (const [what, other] of mutations(proof)) {
        assert.ok(
          !verifyInclusion(leafAt(index), index, size, other, rootOf(size)),
          `${what}: ${index} of ${size}`,
        );
      }
    }
  }
});

test("every consistency proof is accepted, and with no other size or root", () => {
  for (let to = 1; to <= 40; to++) {
    for (let from = 1; from <= to; from++) {
      const proof = naiveSubproof(from, leaves.slice(0, to));
      const verify = (a: number, b: number, first = rootOf(from), second = rootOf(to)) =>
        verifyConsistency(a, b, proof, first, second);
      assert.ok(verify(from, to), `${from} to ${to}`);
      assert.ok(!verify(from, to, flipped(rootOf(from))));
      assert.ok(!verify(from, to, rootOf(from), flipped(rootOf(to))));
      for (let other = 1; other <= 40; other++) {
        if (other !== from) assert.ok(!verify(from, to, rootOf(other)), `${from} to ${to}`);
        if (other !== to) assert.ok(!verify(from, to, rootOf(from), rootOf(other)));
      }
      for (const odd of [-1, to + 1, 0.5, Number.NaN]) assert.ok(!verify(odd, to));
    }
  }
});

test("a consistency proof with any changed, missing, added or swapped hash is refused", () => {
  for (let to = 1; to <= 40; to++) {
    for (let from = 1; from <= to; from++) {
      const proof = naiveSubproof(from, leaves.slice(0, to));
      for (const [what, other] of mutations(proof)) {
        assert.ok(
          !verifyConsistency(from, to, other, rootOf(from), rootOf(to)),
          `${what}: ${from} to ${to}`,
        );
      }
    }
  }
});

test("every tree begins with the empty tree, which has one root", () => {
  const empty = naiveRoot([]);
  assert.ok(verifyConsistency(0, 5, [], empty, rootOf(5)));
  assert.ok(!verifyConsistency(0, 5, [leafAt(0)], empty, rootOf(5)));
  assert.ok(!verifyConsistency(0, 5, [], rootOf(1), rootOf(5)));
});

/** Wrong forms of a proof, each with its name. */
function mutations(proof: readonly Buffer[]): [string, readonly Buffer[]][] {
  const found: [string, readonly Buffer[]][] = [
    ["one more", [...proof, leafAt(3)]],
    ["one more in front", [leafAt(3), ...proof]],
  ];
  for (const [i, hash] of proof.entries()) {
    found.push(["changed", proof.with(i, flipped(hash))]);
    found.push(["missing", proof.toSpliced(i, 1)]);
    found.push(["twice", proof.toSpliced(i, 0, hash)]);
    found.push(["short", proof.with(i, hash.subarray(1))]);
    const next = proof[i + 1];
    if (next) found.push(["swapped", proof.with(i, next).with(i + 1, hash)]);
  }
  return found;
}
