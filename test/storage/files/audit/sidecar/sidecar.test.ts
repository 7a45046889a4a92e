import assert from "node:assert/strict";
import test from "node:test";
import {
  GrowingIndex,
  indexLines,
} from "../../../../../src/storage/files/audit/index/growing-index.ts";
import { SealedIndex } from "../../../../../src/storage/files/audit/index/sealed-index.ts";
import { writeSidecar } from "../../../../../src/storage/files/audit/sidecar/writer.ts";
import { ReadFiles } from "../../../../../src/storage/read-files.ts";
import { auditEventOf, ORGANIZATION } from "../../../../audit/store-suite.ts";
import { ForgetfulFiles } from "../../../../support/forgetful-files.ts";

const BARE = {
  ...{ command: undefined, provider: undefined, executor: undefined, trace_id: undefined },
};

for (const [what, fields] of [
  ["every column", { trace_id: "t", provider: "git", command: "git push" }],
  ["empty columns", BARE],
] as const) {
  for (const rows of [1, 255, 256, 700]) {
    test(`the sidecar of ${rows} events with ${what} is read back`, async () => {
      const files = new ForgetfulFiles();
      const reads = new ReadFiles(files);
      const index = new GrowingIndex(1);
      const event = auditEventOf(JSON.parse(JSON.stringify(fields)) as object);
      const line = Buffer.from(`${JSON.stringify(event)}\n`);
      for (let i = 0; i < rows; i++) {
        indexLines(index, ORGANIZATION, line, i * line.length, assert.fail);
      }
      await writeSidecar(files, "/1.idx", index, rows * 100);
      const sealed = await SealedIndex.open(files, reads, "/1.idx", 1, rows * 100);
      assert.equal(sealed?.rows, rows);
      assert.equal(await SealedIndex.open(files, reads, "/1.idx", 1, rows * 100 + 1), undefined);
      assert.equal(await SealedIndex.open(files, reads, "/1.idx", 2, rows * 100), undefined);
      await sealed?.close();
    });
  }
}

test("the sections of long values are written one by one, and their pages are read back", async () => {
  const files = new ForgetfulFiles();
  let longest = 0;
  let total = 0;
  const write = files.write.bind(files);
  files.write = (descriptor, bytes, position) => {
    longest = Math.max(longest, bytes.length);
    total += bytes.length;
    return write(descriptor, bytes, position);
  };
  const index = new GrowingIndex(1);
  const rows = 1_200;
  const valueOf = (field: string, i: number) => `${field}-${i}-`.padEnd(250, "x");
  let at = 0;
  for (let i = 0; i < rows; i++) {
    const fields = { executor: valueOf("e", i), status: valueOf("s", i), command: valueOf("c", i) };
    const line = Buffer.from(`${JSON.stringify(auditEventOf(fields))}\n`);
    indexLines(index, ORGANIZATION, line, at, assert.fail);
    at += line.length;
  }
  await writeSidecar(files, "/1.idx", index, at);
  assert.ok(longest < total / 2, `${longest} of ${total}`);
  const sealed = await SealedIndex.open(files, new ReadFiles(files), "/1.idx", 1, at);
  const { executor, status } = sealed?.fields ?? assert.fail();
  for (const code of [1, 700, rows]) {
    assert.equal(await executor.dictionary.listedValueOf(code), valueOf("e", code - 1));
    assert.equal(await status.dictionary.listedValueOf(code), valueOf("s", code - 1));
  }
  await sealed?.close();
});
