import assert from "node:assert/strict";
import { test } from "node:test";
import ts from "typescript";
import { filesBelow, nodesOf, parseSource, placeOf } from "./source-files.ts";

function placesWhere(
  matches: (node: ts.Node) => boolean,
  except: readonly string[],
): readonly string[] {
  return filesBelow("src")
    .filter((path) => !except.includes(path))
    .flatMap((path) => [...nodesOf(parseSource(path))].filter(matches).map(placeOf));
}

/** Whether a node reads `object.name` or `object["name"]`. */
function reads(node: ts.Node, object: string, name: string): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return node.expression.getText() === object && node.name.text === name;
  }
  if (!ts.isElementAccessExpression(node) || node.expression.getText() !== object) return false;
  return ts.isStringLiteral(node.argumentExpression) && node.argumentExpression.text === name;
}

/** The guard is a program of its own, which loads neither the service nor its settings. */
const GUARD = "src/guard/main.ts";

test("only core/clock.ts reads the system's clock", () => {
  const isClock = (node: ts.Node): boolean =>
    reads(node, "Date", "now") ||
    (ts.isNewExpression(node) && node.expression.getText() === "Date" && !node.arguments?.length) ||
    (ts.isCallExpression(node) && node.expression.getText() === "Date");
  assert.deepEqual(placesWhere(isClock, ["src/core/clock.ts"]), []);
});

test("only config.ts and the guard's program read the environment", () => {
  const isEnvironment = (node: ts.Node): boolean => reads(node, "process", "env");
  assert.deepEqual(placesWhere(isEnvironment, ["src/config.ts", GUARD]), []);
});
