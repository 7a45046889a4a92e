/**
 * No regular expression of the service may take more than linear time: a client that sends a text for it could hold up
 * all others. An independent analysis finds those that can.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type AST, visitRegExpAST } from "@eslint-community/regexpp";
import { analyse } from "scslre";
import ts from "typescript";
import { ownRules } from "../../src/audit/redaction/own-rules.ts";
import { REDACTION_RULES } from "../../src/audit/redaction/rules.ts";
import { filesBelow, nodesOf, parseSource, placeOf } from "./source-files.ts";

/** Patterns that the analysis reports, and why they do no harm. */
const HARMLESS: Readonly<Record<string, string>> = {
  "/^mcp__(.+?)__(.+)$/s": "the end matches any text",
  "/\\/+$/": "settings, and addresses of the command",
  '/\\?[^]*(?=")/': "settings",
  "/\\B(?=(?:\\d{3})+$)/g": "the digits of a number",
  "/\\s*\\n\\s*/g": "markup of the pages",
  "/^[.-]+|[.-]+$/g": "at most 128 characters",
  "/^ *(?:- +)?id: +(?<quote>[\"']?)(?<id>[^\\s\"'#{}[\\],&*!|>%@`][^\"'#]*?)\\k<quote> *$/":
    "lines of at most 2,000 characters",
};

/** Whether a pattern can take more than linear time, alone or at each position of a text. */
function isSlow(pattern: RegExp): boolean {
  const { reports } = analyse(pattern, {
    assumeRejectingSuffix: false,
    reportTypes: { Move: true },
  });
  return reports.length > 0;
}

/**
 * Whether a pattern can read the same text in two ways, again and again: in `(?:#[^\n]{0,9}\r?\n){0,8}x`, each comment that
 * ends in a carriage return doubles the time. The analysis takes bounds for a limit of the time, and 2 to the power of
 * 500 is one. So it is shown the pattern without bounds.
 */
function isAmbiguous(pattern: RegExp): boolean {
  const { parsed } = analyse(pattern);
  visitRegExpAST(parsed.pattern, {
    onQuantifierEnter(quantifier) {
      const { min, max, element } = quantifier;
      const isOptionalGroup = max === 1 && !element.type.startsWith("Character");
      if (min < max && !isOptionalGroup) quantifier.max = Infinity;
    },
  });
  return analyse(parsed).reports.some((report) => {
    if (!report.exponential) return false;
    // What looks ahead takes no text from what stands before it: only its own length is read again.
    return report.type !== "Trade" || lookOf(report.startQuant) === lookOf(report.endQuant);
  });
}

/** The innermost look ahead or behind around a part of a pattern. */
function lookOf(part: AST.Node): AST.Node | undefined {
  for (let at: AST.Node | null = part; at; at = at.parent) {
    if (at.type === "Assertion" && /^look/.test(at.kind)) return at;
  }
  return undefined;
}

test("the analysis finds a slow pattern", () => {
  assert.ok(isSlow(/^\{([^{}]*,[^{}]*)\}$/));
  assert.ok(isSlow(/\s*,\s*(?=\w+:)/u));
  assert.ok(!isSlow(/^\{([^{},]*,[^{}]*)\}$/));
});

test("the analysis finds an ambiguous pattern within bounds", () => {
  assert.ok(isAmbiguous(/(?:#[^\n]{0,9}\r?\n){0,8}x/));
  assert.ok(!isAmbiguous(/(?:#[^\r\n]{0,9}\r?\n){0,8}x/));
  assert.ok(isAmbiguous(/(?:--rcfile[\s=]{1,4}\S{1,80}\s){0,6}x/));
});

test("no pattern of the service takes more than linear time", () => {
  const unused = new Set(Object.keys(HARMLESS));
  const slow: string[] = [];
  let count = 0;
  for (const path of filesBelow("src")) {
    if (path.startsWith("src/portal/browser/")) continue; // those read what their own user writes
    for (const node of nodesOf(parseSource(path))) {
      if (!ts.isRegularExpressionLiteral(node)) continue;
      count++;
      const end = node.text.lastIndexOf("/");
      const pattern = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
      if (!isSlow(pattern) && !isAmbiguous(pattern)) continue;
      unused.delete(node.text);
      if (HARMLESS[node.text] === undefined) slow.push(`${placeOf(node)}: ${node.text}`);
    }
  }
  assert.ok(count > 300);
  assert.deepEqual(slow, [], "write it in another way, or say here why it does no harm");
  assert.deepEqual([...unused], [], "these are gone or fast");
});

test("no rule of redaction takes more than linear time", () => {
  const own = ownRules([{ key: "audit.redact.names", value: "dsn" }]);
  for (const { id, pattern, continues } of [...REDACTION_RULES, ...own]) {
    for (const part of continues ? [pattern, continues] : [pattern]) {
      assert.ok(!isSlow(part), id);
      assert.ok(!isAmbiguous(part), id);
    }
  }
});
