/**
 * No regular expression of the service may take more than linear time: a client that sends a text for it could hold up
 * all others. An independent analysis finds those that can.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { analyse } from "scslre";
import ts from "typescript";
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

test("the analysis finds a slow pattern", () => {
  assert.ok(isSlow(/^\{([^{}]*,[^{}]*)\}$/));
  assert.ok(isSlow(/\s*,\s*(?=\w+:)/u));
  assert.ok(!isSlow(/^\{([^{},]*,[^{}]*)\}$/));
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
      if (!isSlow(new RegExp(node.text.slice(1, end), node.text.slice(end + 1)))) continue;
      unused.delete(node.text);
      if (HARMLESS[node.text] === undefined) slow.push(`${placeOf(node)}: ${node.text}`);
    }
  }
  assert.ok(count > 300);
  assert.deepEqual(slow, [], "write it in another way, or say here why it does no harm");
  assert.deepEqual([...unused], [], "these are gone or fast");
});

test("no rule of redaction takes more than linear time", () => {
  for (const { id, pattern } of REDACTION_RULES) assert.ok(!isSlow(pattern), id);
});
