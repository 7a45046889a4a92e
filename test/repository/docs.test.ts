import assert from "node:assert/strict";
import { test } from "node:test";
import ts from "typescript";
import { filesBelow, nodesOf, parseSource, placeOf } from "./source-files.ts";

/** The exported functions and classes of a file; of an overloaded function the first signature. */
function exportedCallables(file: ts.SourceFile): readonly ts.Statement[] {
  const named = new Set<string>();
  return file.statements.filter((statement) => {
    const flags = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!flags.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return false;
    if (ts.isClassDeclaration(statement)) return true;
    if (ts.isVariableStatement(statement)) return holdsFunction(statement);
    if (!ts.isFunctionDeclaration(statement)) return false;
    const name = statement.name?.text ?? "";
    const isFirst = !named.has(name);
    named.add(name);
    return isFirst;
  });
}

function holdsFunction(statement: ts.VariableStatement): boolean {
  return statement.declarationList.declarations.some(
    ({ initializer }) =>
      initializer && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)),
  );
}

function docOf(node: ts.Node): string {
  return ts
    .getJSDocCommentsAndTags(node)
    .filter(ts.isJSDoc)
    .map((doc) => doc.getText())
    .join("\n");
}

const callables = filesBelow("src").flatMap((path) => exportedCallables(parseSource(path)));

test("every exported function and class has a doc comment", () => {
  assert.ok(callables.length > 0);
  assert.deepEqual(callables.filter((node) => docOf(node) === "").map(placeOf), []);
});

test("a doc comment opens with a sentence and says no types", () => {
  const odd = callables.filter((node) => {
    const doc = docOf(node);
    return doc !== "" && (/^\/\*\*\s*(?:\*\s*)?@/.test(doc) || /@\w+ \{/.test(doc));
  });
  assert.deepEqual(odd.map(placeOf), []);
});

test("exports are named, and no file re-exports all of another", () => {
  const odd = filesBelow("src").flatMap((path) =>
    [...nodesOf(parseSource(path))].filter(
      (node) => ts.isExportAssignment(node) || (ts.isExportDeclaration(node) && !node.exportClause),
    ),
  );
  assert.deepEqual(odd.map(placeOf), []);
});
