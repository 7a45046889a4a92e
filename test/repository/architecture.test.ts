/** Holds `docs/architecture.md` to the code: each path, each name and each folder that it mentions exists. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import ts from "typescript";
import { filesBelow, nodesOf, parseSource, readSource } from "./source-files.ts";

const root = join(import.meta.dirname, "..", "..");
const page = readSource("docs/architecture.md");
const sources = filesBelow("src");
const fileNames = new Set(sources.map((path) => path.split("/").at(-1)));

/** The names that a file declares, members of classes included; a private `#name` counts as `name`. */
function declaredIn(path: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of nodesOf(parseSource(path))) {
    const isDeclaration =
      ts.isFunctionDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isVariableDeclaration(node) ||
      ts.isMethodDeclaration(node);
    if (isDeclaration && node.name !== undefined) names.add(node.name.getText().replace(/^#/, ""));
  }
  return names;
}

test("every file that the architecture page names exists", () => {
  const paths = [...page.matchAll(/(?<![\w/.-])[\w/-]+(?:\.test)?\.ts\b/g)].map(([path]) => path);
  assert.ok(paths.length > 30);
  const missing = paths.filter((path) =>
    path.includes("/") ? !existsSync(join(root, path)) : !fileNames.has(path),
  );
  assert.deepEqual(missing, []);
});

test("the map of the parts names every folder of src, and only those", () => {
  const [, map = ""] = /^## The parts\n\n```\nsrc\/\n([\s\S]*?)^```/m.exec(page) ?? [];
  const named = [...map.matchAll(/(?<=^ {2}| )([a-z-]+)\/(?= )/gm)].map(([, folder]) => folder);
  const folders = sources.map((path) => path.split("/")).filter((parts) => parts.length > 2);
  assert.deepEqual(
    [...new Set(named)].sort(),
    [...new Set(folders.map(([, name]) => name))].sort(),
  );
});

test("every name in the diagrams is exported somewhere in src", () => {
  const [diagramOfEvents = "", diagramOfQueries = ""] = [
    ...page.matchAll(/^### .*\n\n```\n([\s\S]*?)^```/gm),
  ].map(([, diagram]) => diagram);
  const names = `${diagramOfEvents}${diagramOfQueries}`.match(
    /\b(?:[A-Z][a-z]+){2,}\b|\b[a-z]+[A-Z]\w+|\b(?:Lease|Tail)\b/g,
  );
  assert.ok(names !== null && names.length > 10);
  const text = sources.map(readSource).join("\n");
  const missing = names.filter((name) => !new RegExp(`^export .*\\b${name}\\b`, "m").test(text));
  assert.deepEqual(missing, []);
});

const rows = [...page.matchAll(/^\| (Where .*?\?) \| `(.*?)` \| (.*?) ?\|$/gm)];

test("the page answers where things are", () => assert.ok(rows.length >= 12));

for (const [, question = "", path = "", names = ""] of rows) {
  test(`the page answers rightly: ${question}`, () => {
    const declared = declaredIn(path);
    const wanted = [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
    assert.deepEqual(
      wanted.filter((name) => !declared.has(name)),
      [],
    );
  });
}
