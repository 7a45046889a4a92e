import assert from "node:assert/strict";
import { test } from "node:test";
import { completionAt } from "../../../src/portal/browser/yaml-completion.ts";

const CATALOG = {
  providers: ["git", "github", "kubernetes"],
  capabilities: ["git/push", "git/pull"],
};

/** The words that complete a text at its mark `|`, and the part that they replace. */
function wordsAt(marked: string): readonly [string, ...(readonly string[])] | undefined {
  const caret = marked.indexOf("|");
  const text = marked.replace("|", "");
  const found = completionAt(text, caret, CATALOG);
  return found && [text.slice(found.from, caret), ...found.words];
}

const RULES = "schema: signalbox/policy/v1\nrules:\n  - id: one\n    effect: deny\n";

test("keys are completed by where they stand", () => {
  for (const [marked, ...words] of [
    ["de|", "default: ", "description: ", "mode: "],
    [`${RULES}    ma|`, "match:"],
    [`${RULES}    match:\n      con|`, "consumers: "],
    [`${RULES}    match:\n      commands:\n        - pr|`, "prefix: "],
    [`${RULES}    except:\n      - re|`, "resources: "],
    [`${RULES}  - i|`, "id: "],
    [`${RULES}    match: { com|`, "commands: "],
    [`${RULES}    match: { commands: [{ gl|`, "glob: "],
    [`${RULES}tests:\n  - ex|`, "expect: ", "executor: "],
    [`${RULES}tests:\n  - { command: x, expe|`, "expect: "],
  ]) {
    const [, ...found] = wordsAt(marked ?? "") ?? [];
    assert.deepEqual([...found].sort(), [...words].sort(), marked);
  }
});

test("values are completed by their key, from the schema, the catalog and the document", () => {
  for (const [marked, ...words] of [
    ["default: |", "allow", "deny"],
    ["mode: |", "enforce", "observe"],
    ["rules:\n  - effect: d|", "deny"],
    ["schema: sig|", "signalbox/policy/v1"],
    [`${RULES}    match: { providers: [github, g|`, "git", "github"],
    [`${RULES}    match:\n      providers:\n        - hub|`, "github"],
    [`${RULES}    match:\n      providers:\n      - ku|`, "kubernetes"],
    [`${RULES}    match:\n      consumers: [a|`, "ai"],
    [`${RULES}    match:\n      capabilities: ["git/pus|`, "git/push"],
    [`${RULES}    enabled: |`, "true", "false"],
    [`${RULES}tests:\n  - { command: x, expect: deny, rule: o|`, "one"],
  ]) {
    const [, ...found] = wordsAt(marked ?? "") ?? [];
    assert.deepEqual(found, words, marked);
  }
});

test("the part before the caret is replaced, and words that begin with it come first", () => {
  assert.deepEqual(wordsAt("rules:\n  - match:\n      providers: [hub|"), ["hub", "github"]);
  assert.deepEqual(wordsAt("rules:\n  - match:\n      capabilities: [pu|"), [
    "pu",
    "git/push",
    "git/pull",
  ]);
});

test("comments, finished words and free texts are not completed", () => {
  for (const marked of [
    "# de|",
    "default: deny # al|",
    "default: deny|",
    "description: some wor|",
    `${RULES}    reason: al|`,
    `${RULES}    match: { commands: [{ exact: git pu|`,
    `${RULES}    match: { resources: [pro|`,
  ]) {
    assert.equal(wordsAt(marked), undefined, marked);
  }
});
