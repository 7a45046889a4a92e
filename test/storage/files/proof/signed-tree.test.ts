import assert from "node:assert/strict";
import { appendFile, mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { openCheckpoint } from "../../../../src/proof/checkpoint.ts";
import { readNote } from "../../../../src/proof/checkpoint-lines.ts";
import { GrowingTree } from "../../../../src/proof/growing-tree.ts";
import { leafHash } from "../../../../src/proof/merkle.ts";
import { newPrivateKey, signerOf } from "../../../../src/proof/note.ts";
import { Contradiction, SignedTree } from "../../../../src/proof/signed-tree.ts";
import { systemFiles, type FileOperations } from "../../../../src/storage/file-operations.ts";
import { followFiles } from "../../../../src/storage/files/proof/follow-files.ts";
import { logParts } from "../../../../src/storage/files/proof/log-sources.ts";
import { TreeFiles, type TreePosition } from "../../../../src/storage/files/proof/tree-files.ts";
import { VerifyReport } from "../../../../src/storage/files/verify/report.ts";
import { verifyTrees } from "../../../../src/storage/files/verify/trees.ts";
import { Layout } from "../../../../src/storage/layout.ts";
import { newDirectory } from "../../../support/server-process.ts";

const LOG = { organization: "default", log: "audit" } as const;
const signer = signerOf("signalbox/default/audit", newPrivateKey());
const lineOf = (i: number): string => `{"id":"${i}","command":"git push ${"x".repeat(i % 50)}"}`;

/** A log in segments, and a tree that follows it. */
class Fixture {
  readonly layout: Layout;
  readonly lines: string[] = [];
  #segment = 1;

  constructor(root: string) {
    this.layout = new Layout(root);
  }

  static async create(): Promise<Fixture> {
    const fixture = new Fixture(await newDirectory({ after }));
    await mkdir(fixture.layout.organization("default").audit, { recursive: true });
    await fixture.roll(0);
    return fixture;
  }

  get segment(): string {
    return this.pathOf(this.#segment);
  }

  get checkpoints(): string {
    return join(this.layout.organization("default").auditProof, "checkpoints.jsonl");
  }

  pathOf(segment: number): string {
    const name = `${String(segment).padStart(12, "0")}.jsonl`;
    return join(this.layout.organization("default").audit, name);
  }

  async append(count: number): Promise<void> {
    const added = Array.from({ length: count }, (_, i) => lineOf(this.lines.length + i));
    this.lines.push(...added);
    await appendFile(this.segment, `${added.join(" \n")}\n`);
  }

  async roll(by = 1): Promise<void> {
    this.#segment += by;
    await writeFile(this.segment, "");
  }

  open(files: FileOperations = systemFiles): Promise<SignedTree<TreePosition>> {
    return SignedTree.open(new TreeFiles(files, this.layout, LOG), signer);
  }

  async follow(
    files: FileOperations = systemFiles,
    tree?: SignedTree<TreePosition>,
  ): Promise<SignedTree<TreePosition>> {
    const opened = tree ?? (await this.open(files));
    await followFiles(files, opened, await logParts(files, this.layout, LOG));
    return opened;
  }

  /** The sizes of all signed checkpoints, each of which has the root of the log at that size. */
  async signed(): Promise<readonly number[]> {
    const text = await readFile(this.checkpoints, "utf8").catch(() => "");
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => {
        const { size, root } = openCheckpoint(readNote(line), [signer]);
        assert.deepEqual(root, this.rootAt(size), String(size));
        return size;
      });
  }

  rootAt(size: number): Buffer {
    const tree = new GrowingTree(() => {});
    for (const line of this.lines.slice(0, size)) tree.append(leafHash(line));
    return tree.root();
  }
}

test("a tree follows its log over segments and restarts, and signs each state once", async () => {
  const fixture = await Fixture.create();
  let tree = await fixture.follow();
  for (const [i, count] of [1, 254, 1, 0, 1, 300, 700, 3].entries()) {
    await fixture.append(count);
    if (i % 3 === 2) await fixture.roll();
    if (i % 2 === 1) tree = await fixture.open();
    await fixture.follow(systemFiles, tree);
    await fixture.follow(systemFiles, tree);
  }
  assert.deepEqual(await fixture.signed(), [0, 1, 255, 256, 257, 557, 1257, 1260]);
  const { checkpoint } = await fixture.open();
  assert.equal(checkpoint?.size, 1260);
});

test("a long line, and lines of one append, are leaves without their white space", async () => {
  const fixture = await Fixture.create();
  const long = `{"id":"long","command":"${"y".repeat(700_000)}"}`;
  fixture.lines.push("{}", long, "[]");
  await appendFile(fixture.segment, `{} \n${long} \n[]\n`);
  await fixture.follow();
  assert.deepEqual(await fixture.signed(), [3]);
});

/** File operations of which those that change the disk fail from the given one on, as in a killed process. */
function cutAfter(steps: number): FileOperations & { readonly isCut: () => boolean } {
  let left = steps;
  const step = (): void => {
    if (left-- <= 0) throw Object.assign(new Error("cut"), { code: "EIO" });
  };
  return {
    ...systemFiles,
    isCut: () => left < 0,
    makeDirectory: async (...args) => (step(), systemFiles.makeDirectory(...args)),
    rename: async (...args) => (step(), systemFiles.rename(...args)),
    truncate: async (...args) => (step(), systemFiles.truncate(...args)),
    fsync: async (...args) => (step(), systemFiles.fsync(...args)),
    write: async (descriptor, bytes, position) => {
      if (left > 0) return (step(), systemFiles.write(descriptor, bytes, position));
      // The last write puts half of its bytes on the disk.
      await systemFiles.write(descriptor, bytes.subarray(0, bytes.length >> 1), position);
      return (step(), 0);
    },
  };
}

test("a tree that is cut off between any two steps goes on, and contradicts nothing", async () => {
  let steps = 0;
  for (let isCut = true; isCut; steps++) {
    const fixture = await Fixture.create();
    await fixture.append(300);
    await fixture.follow();
    await fixture.append(300);
    await fixture.roll();
    await fixture.append(5);
    const files = cutAfter(steps);
    await fixture.follow(files).catch(() => {});
    isCut = files.isCut();
    const report = new VerifyReport(fixture.layout.root);
    await verifyTrees(systemFiles, fixture.layout, "default", report);
    assert.deepEqual(report.problems, [], `step ${steps}`);
    await fixture.append(40);
    await fixture.follow();
    const sizes = await fixture.signed();
    assert.deepEqual([sizes[0], sizes.at(-1)], [300, 645], `step ${steps}`);
  }
  assert.ok(steps > 8, String(steps));
});

test("a tree that fails goes on with its files when it is opened again", async () => {
  const fixture = await Fixture.create();
  await fixture.append(10);
  for (let steps = 0; steps < 12; steps++) {
    await fixture.append(100);
    await fixture.follow(cutAfter(steps)).catch(() => {});
  }
  await fixture.follow();
  assert.equal((await fixture.signed()).at(-1), fixture.lines.length);
});

for (const [what, damage] of [
  ["a shorter log", async (fixture: Fixture) => truncate(fixture.segment, 100)],
  ["a missing segment", async (fixture: Fixture) => writeFile(fixture.segment, "")],
  [
    "another hash",
    async (fixture: Fixture) => {
      const path = join(fixture.layout.organization("default").auditProof, "hashes-0");
      await writeFile(path, (await readFile(path)).fill(1, 0, 1));
    },
  ],
  [
    "missing hashes",
    async (fixture: Fixture) =>
      truncate(join(fixture.layout.organization("default").auditProof, "hashes-0"), 64),
  ],
] as const) {
  test(`with ${what} nothing more is signed`, async () => {
    const fixture = await Fixture.create();
    await fixture.append(20);
    await fixture.follow();
    await damage(fixture);
    await assert.rejects(fixture.follow(), Contradiction);
    assert.deepEqual((await readFile(fixture.checkpoints, "utf8")).split("\n").length, 2);
  });
}

test("checkpoints that end in another line are damaged: the error names the file and the way out", async () => {
  const fixture = await Fixture.create();
  const tree = new TreeFiles(systemFiles, fixture.layout, LOG);
  await mkdir(tree.directory, { recursive: true });
  for (const text of ["not ours\n", "[]\n", '{"note":1}\n']) {
    await writeFile(tree.checkpoints, text);
    const fault = "its last line is not a checkpoint";
    const message = `${tree.checkpoints} is damaged (${fault}): restore it from a backup, or move it away`;
    await assert.rejects(tree.lastNote(), { message });
  }
});
