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
