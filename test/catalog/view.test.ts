import assert from "node:assert/strict";
import { test } from "node:test";
import { findCapabilities } from "../../src/catalog/find.ts";
import { viewOf } from "../../src/catalog/view.ts";
import type { CatalogDocument } from "../../src/catalog/document.ts";

const document: CatalogDocument = {
  contract_version: "1.0",
  generated_at: "2026-11-20T00:00:00Z",
  runtime: { known: false, note: "By hand." },
  providers: [
    { id: "aws", name: "Amazon", auth: "IAM", scope: "account", operations: [] },
    { id: "git", name: "Git", auth: "none", scope: "repository", operations: ["push", "list"] },
  ],
  capabilities: [
    { id: "git/list_tags", name: "List tags", provider: "git", description: "Shows İ.", path: "a" },
    {
      id: "git/push_tag",
      name: "Push tag",
      provider: "git",
      description: "Sends a tag.",
      path: "b",
      command: "git push --tags",
    },
  ],
};
const view = viewOf(document, "embed");

function idsOf(provider: string | undefined, q: string | undefined): string[] {
  return findCapabilities(view.capabilities, provider, q).map(({ id }) => id);
}

test("the envelope has counts and source", () => {
  assert.deepEqual(view.envelope, {
    contract_version: "1.0",
    counts: { capabilities: 2, providers: 2 },
    generated_at: "2026-11-20T00:00:00Z",
    source: "embed",
    runtime: { known: false, note: "By hand." },
  });
});

test("a provider has the number of its capabilities and its operations, sorted", () => {
  assert.deepEqual(view.providers, [
    { id: "aws", name: "Amazon", auth: "IAM", capabilities: 0, operations: 0, operation_names: [] },
    {
      id: "git",
      name: "Git",
      auth: "none",
      capabilities: 2,
      operations: 2,
      operation_names: ["list", "push"],
    },
  ]);
});

test("a capability's example command is not shown", () => {
  assert.deepEqual(Object.keys(view.capabilities[1] ?? {}), [
    "id",
    "name",
    "provider",
    "description",
    "path",
  ]);
});

const both = ["git/list_tags", "git/push_tag"];

test("without filters every capability is found", () => {
  assert.deepEqual(idsOf(undefined, undefined), both);
});

test("a provider is matched exactly", () => {
  assert.deepEqual(idsOf("git", undefined), both);
  assert.deepEqual(idsOf("Git", undefined), []);
  assert.deepEqual(idsOf("gi", undefined), []);
});

test("a text is found in name, description, id and provider, in any letter case", () => {
  assert.deepEqual(idsOf(undefined, "PUSH TAG"), ["git/push_tag"]);
  assert.deepEqual(idsOf(undefined, "sends"), ["git/push_tag"]);
  assert.deepEqual(idsOf(undefined, "t/list_"), ["git/list_tags"]);
  assert.deepEqual(idsOf(undefined, "GIT"), both);
  assert.deepEqual(idsOf(undefined, "İ"), ["git/list_tags"]);
});

test("a text is not found across fields, in the path or in the command, nor as a pattern", () => {
  for (const q of ["tags git", "tag git", "--tags", ".*", "git/list_tags List"]) {
    assert.deepEqual(idsOf(undefined, q), [], q);
  }
});

test("both filters must match", () => {
  assert.deepEqual(idsOf("git", "push"), ["git/push_tag"]);
  assert.deepEqual(idsOf("aws", "push"), []);
});
