/** Modules for browsers must run there: they import nothing of Node. Pages share a frame. */
import assert from "node:assert/strict";
import { posix } from "node:path";
import { test } from "node:test";
import ts from "typescript";
import { filesBelow, parseSource } from "./source-files.ts";

const entries = filesBelow("src/portal/browser");

/** The imports of a file at run time; types leave no trace in the compiled code. */
function importsOf(path: string): readonly string[] {
  return parseSource(path).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const clause = ts.isImportDeclaration(statement) ? statement.importClause : undefined;
    if (clause?.isTypeOnly || (ts.isExportDeclaration(statement) && statement.isTypeOnly))
      return [];
    const target = statement.moduleSpecifier;
    return target && ts.isStringLiteral(target) ? [target.text] : [];
  });
}

const reached = new Map<string, readonly string[]>();
const visit = (path: string): void => {
  if (reached.has(path)) return;
  const targets = importsOf(path);
  reached.set(path, targets);
  for (const target of targets.filter((one) => one.startsWith("."))) {
    visit(posix.join(posix.dirname(path), target));
  }
};
entries.forEach(visit);

/** The script before each page, and the modules that pages load on demand or as a further one: they stand beside a page. */
const BESIDE = [
  ...["/early.ts", "/palette.ts", "/audit-views.ts", "/audit-facet-list.ts"],
  ...["/audit-proof.ts", "/activity-check.ts"],
];
const PAGES = filesBelow("src/portal/browser/entries").filter(
  (path) => !BESIDE.some((name) => path.endsWith(name)),
);

test("the bundle of a page contains the frame, and no other page", () => {
  assert.ok(PAGES.length > 0);
  assert.deepEqual(
    PAGES.filter((path) => !importsOf(path).includes("../frame.ts")),
    [],
  );
  const importers = [...reached].filter(([, targets]) =>
    targets.some((target) => target.includes("/entries/")),
  );
  assert.deepEqual(importers, []);
});

test("browser modules reach no module of Node and no package", () => {
  assert.ok(entries.length > 0 && reached.size > entries.length);
  const foreign = [...reached].flatMap(([path, targets]) =>
    targets.filter((one) => !one.startsWith(".")).map((one) => `${path} imports ${one}`),
  );
  assert.deepEqual(foreign, []);
});

test("nothing that the server runs imports a browser module", () => {
  const importers = filesBelow("src")
    .filter((path) => !path.startsWith("src/portal/browser/"))
    .filter((path) => importsOf(path).some((target) => target.includes("/browser/")));
  assert.deepEqual(importers, []);
});
