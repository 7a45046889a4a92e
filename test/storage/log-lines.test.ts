import assert from "node:assert/strict";
import test from "node:test";
import { readExactly } from "../../src/storage/file-ranges.ts";
import { endOfLastAppend, readLines } from "../../src/storage/log-lines.ts";
import { ForgetfulFiles } from "../support/forgetful-files.ts";

async function holding(text: string): Promise<{ files: ForgetfulFiles; descriptor: number }> {
  const files = new ForgetfulFiles();
  const descriptor = await files.open("/log", "w");
  files.writeSync(descriptor, Buffer.from(text), 0);
  return { files, descriptor };
}

async function linesOf(text: string): Promise<[string, number][]> {
  const { files } = await holding(text);
  const lines: [string, number][] = [];
  await readLines(files, "/log", (line, offset) => void lines.push([String(line), offset]));
  return lines;
}

async function endOf(text: string): Promise<number> {
  const { files, descriptor } = await holding(text);
  return endOfLastAppend(files, descriptor, Buffer.byteLength(text));
}

test("lines are passed on with the offset of their first byte", async () => {
  assert.deepEqual(await linesOf("ä\nb\n"), [
    ["ä", 0],
    ["b", 3],
  ]);
});

test("carriage returns, trailing spaces and empty lines are skipped", async () => {
  assert.deepEqual(await linesOf("a\r\n\r\n\n  \nb \nc \r\n"), [
    ["a", 0],
    ["b", 9],
    ["c", 12],
  ]);
});

test("a last line without a newline is passed on, too", async () => {
  assert.deepEqual(await linesOf("a\nb"), [
    ["a", 0],
    ["b", 2],
  ]);
});

test("an empty file has no lines", async () => {
  assert.deepEqual(await linesOf(""), []);
});

test("lines longer than one read are whole", async () => {
  const long = "x".repeat(5 << 20);
  const lines = await linesOf(`a\n${long}\nb\n`);
  assert.deepEqual(
    lines.map(([line, offset]) => [line.length, offset]),
    [
      [1, 0],
      [long.length, 2],
      [1, long.length + 3],
    ],
  );
});

test("reading ends when the callback returns false", async () => {
  const { files } = await holding("a\nb\nc\n");
  const lines: string[] = [];
  await readLines(files, "/log", (line) => {
    lines.push(String(line));
    return lines.length < 2 ? undefined : false;
  });
  assert.deepEqual(lines, ["a", "b"]);
});

for (const [what, text, end] of [
  ["a whole last line", "a\nb\n", 4],
  ["half a last line", "a\nb", 2],
  ["no line at all", "abc", 0],
  ["nothing", "", 0],
  ["an append of several lines", "a\nb \nc\n", 7],
  ["an append that lacks its last line", "a\nb \nc \n", 2],
  ["a first append that lacks its last line", "b \nc \n", 0],
  ["lines with a carriage return", "a\r\nb \r\nc", 3],
  ["an empty last line", "a\n\n", 3],
] as const) {
  test(`the end of the last append is found after ${what}`, async () => {
    assert.equal(await endOf(text), end);
  });
}

for (const before of [0, 1, 2, 3, 4]) {
  test(`the end of the last append is found ${before} bytes from the edge of one read`, async () => {
    const torn = "x".repeat((1 << 16) - before);
    assert.equal(await endOf(`a\nb \r\n${torn}`), 2);
    assert.equal(await endOf(`a\nb\r\n${torn}`), 5);
  });
}

test("a range beyond the end of a file is refused", async () => {
  const { files, descriptor } = await holding("abc");
  assert.equal(String(await readExactly(files, descriptor, 1, 2)), "bc");
  await assert.rejects(readExactly(files, descriptor, 1, 3), /ends at byte 3/);
});
