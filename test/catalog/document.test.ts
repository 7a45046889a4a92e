import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCatalog } from "../../src/catalog/document.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";

const provider = {
  id: "git",
  name: "Git",
  auth: "SSH key",
  scope: "repository",
  operations: ["list"],
};
const capability = {
  id: "git/list_tags",
  name: "List tags",
  provider: "git",
  description: "Lists the tags.",
  path: "capabilities/git/list_tags.yaml",
};

function catalog(changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    contract_version: "1.0",
    generated_at: "2026-11-20T00:00:00Z",
    runtime: { known: false, note: "By hand." },
    providers: [provider],
    capabilities: [capability],
    ...changes,
  });
}

test("a document is read unchanged, without unknown fields", () => {
  const rows = { providers: [{ ...provider, color: "red" }], later: true };
  assert.deepEqual(parseCatalog(catalog(rows)), {
    contract_version: "1.0",
    generated_at: "2026-11-20T00:00:00Z",
    runtime: { known: false, note: "By hand." },
    providers: [provider],
    capabilities: [capability],
  });
});

test("a document without a version has version 0", () => {
  assert.equal(parseCatalog(catalog({ contract_version: undefined })).contract_version, "0");
});

test("a document may be empty", () => {
  const { providers, capabilities } = parseCatalog(catalog({ providers: [], capabilities: [] }));
  assert.deepEqual([providers, capabilities], [[], []]);
});

test("rows are sorted by id", () => {
  const second = { ...provider, id: "aws" };
  const { providers } = parseCatalog(catalog({ providers: [provider, second] }));
  assert.deepEqual(
    providers.map(({ id }) => id),
    ["aws", "git"],
  );
});

test("an example command is kept", () => {
  const rows = [{ ...capability, command: "git tag" }];
  assert.equal(parseCatalog(catalog({ capabilities: rows })).capabilities[0]?.command, "git tag");
});

test("an unknown origin has a note and no commit, whatever the document says", () => {
  const runtime = { known: false, repo: "example/runtime", ref: "main", commit: SHA };
  assert.deepEqual(parseCatalog(catalog({ runtime })).runtime, {
    known: false,
    repo: "example/runtime",
    ref: "main",
    note: "The catalog does not say where it comes from.",
  });
  assert.equal(parseCatalog(catalog({ runtime: undefined })).runtime.known, false);
});

test("a known origin has its commit, a short one, and no note", () => {
  const runtime = { known: true, commit: SHA, note: "none" };
  const short = { known: true, commit: SHA, short_commit: SHA.slice(0, 10) };
  assert.deepEqual(parseCatalog(catalog({ runtime })).runtime, {
    known: true,
    commit: SHA,
    short_commit: "0123456",
  });
  assert.deepEqual(parseCatalog(catalog({ runtime: short })).runtime, short);
});

const faults: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
  ["no time", { generated_at: undefined }, /^catalog\.generated_at: required$/],
  ["a wrong time", { generated_at: "yesterday" }, /^catalog\.generated_at: expected an RFC 3339/],
  ["no providers", { providers: null }, /^catalog\.providers: required$/],
  ["providers that are no list", { providers: {} }, /^catalog\.providers: expected a list$/],
  [
    "a provider that is a text",
    { providers: ["git"] },
    /^catalog\.providers\[0\]: expected a JSON/,
  ],
  [
    "a provider without auth",
    { providers: [{ ...provider, auth: "" }] },
    /^catalog\.providers\[0\]\.auth: required$/,
  ],
  [
    "a provider id with a slash",
    { providers: [provider, { ...provider, id: "a/b" }] },
    /^catalog\.providers\[1\]\.id: expected a letter or digit first/,
  ],
  [
    "the provider id __proto__",
    { providers: [{ ...provider, id: "__proto__" }] },
    /^catalog\.providers\[0\]\.id: expected a letter/,
  ],
  [
    "a provider twice",
    { providers: [provider, provider] },
    /^catalog\.providers\[1\]\.id: "git" appears twice$/,
  ],
  [
    "an operation twice",
    { providers: [{ ...provider, operations: ["list", "list"] }] },
    /^catalog\.providers\[0\]\.operations\[1\]: appears twice$/,
  ],
  [
    "an operation that is a number",
    { providers: [{ ...provider, operations: [1] }] },
    /^catalog\.providers\[0\]\.operations\[0\]: expected a string$/,
  ],
  [
    "a capability of an unknown provider",
    { capabilities: [{ ...capability, provider: "svn" }] },
    /^catalog\.capabilities\[0\]\.provider: no provider has this id$/,
  ],
  [
    "a capability named after another provider",
    { capabilities: [{ ...capability, id: "aws/list_tags" }] },
    /^catalog\.capabilities\[0\]\.id: expected "git\/" and a name/,
  ],
  [
    "a capability without a name of its own",
    { capabilities: [{ ...capability, id: "git/" }] },
    /^catalog\.capabilities\[0\]\.id: expected "git\/"/,
  ],
  [
    "a capability twice",
    { capabilities: [capability, capability] },
    /^catalog\.capabilities\[1\]\.id: "git\/list_tags" appears twice$/,
  ],
  [
    "a known origin without commit",
    { runtime: { known: true } },
    /^catalog\.runtime\.commit: expected/,
  ],
  [
    "a known origin with a short commit only",
    { runtime: { known: true, commit: SHA.slice(0, 12) } },
    /^catalog\.runtime\.commit: expected a full SHA/,
  ],
  [
    "a short commit of another commit",
    { runtime: { known: true, commit: SHA, short_commit: "fffffff" } },
    /^catalog\.runtime\.short_commit: expected the beginning/,
  ],
  ["an origin that does not say", { runtime: {} }, /^catalog\.runtime\.known: required$/],
];

for (const [name, changes, message] of faults) {
  test(`${name} is a fault that names its place`, () => {
    assert.throws(() => parseCatalog(catalog(changes)), { message });
  });
}

test("an operation that appears twice is found in linear time", () => {
  const operations = [...Array.from({ length: 80_000 }, (_, n) => `o${n}`), "o7"];
  const text = catalog({ providers: [{ ...provider, operations }] });
  const start = process.cpuUsage();
  assert.throws(() => parseCatalog(text), {
    message: "catalog.providers[0].operations[80000]: appears twice",
  });
  // Looking for each name in the list took 5 s.
  assert.ok(process.cpuUsage(start).user / 1_000 < 2_000);
});

test("invalid JSON is a fault with line and column, and is not quoted", () => {
  assert.throws(() => parseCatalog('{\n  "providers": secret\n}'), {
    message: "it is not JSON: line 2, column 16: expected a value",
  });
  assert.throws(() => parseCatalog("[".repeat(200_000)), {
    message: "it is not JSON: line 1, column 1002: expected at most 1000 levels",
  });
  assert.throws(() => parseCatalog("[]"), { message: "catalog: expected a JSON object" });
});
