import assert from "node:assert/strict";
import { test } from "node:test";
import { filesBelow, readSource } from "./source-files.ts";

const MAX_SOURCE_LINES = 300;
const MAX_TEST_LINES = 600; // a list of cases reads well at a length at which code does not
const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test)?\.ts$/;
const WORDS_WITHOUT_MEANING = /(?:^|[/-])(?:utils?|helpers?|common|managers?|misc)(?:[/.-]|$)/;

const paths = [...filesBelow("src"), ...filesBelow("test")];

test("file names are kebab-case", () => {
  assert.deepEqual(
    paths.filter((path) => !KEBAB_CASE.test(path.split("/").at(-1) ?? "")),
    [],
  );
});

test("every file and folder is named after its content", () => {
  assert.deepEqual(
    paths.filter((path) => WORDS_WITHOUT_MEANING.test(path)),
    [],
  );
});

for (const [folder, limit] of [
  ["src", MAX_SOURCE_LINES],
  ["test", MAX_TEST_LINES],
] as const) {
  test(`no file in ${folder} is longer than ${limit} lines`, () => {
    const lengths = filesBelow(folder).map((path) => ({
      path,
      lines: readSource(path).split("\n").length - 1,
    }));
    assert.deepEqual(
      lengths.filter(({ lines }) => lines > limit),
      [],
    );
  });
}

test("tests are in the folder of their subject, or in a cross-cutting folder", () => {
  const folderOf = (path: string): string => path.split("/").slice(1, -1).join("/");
  const folders = new Set(filesBelow("src").map(folderOf));
  for (const name of ["bench", "journeys", "repository", "support"]) folders.add(name);
  assert.deepEqual(
    filesBelow("test").filter((path) => !folders.has(folderOf(path))),
    [],
  );
});
