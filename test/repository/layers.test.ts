/** Reads every import and fails on each arrow that the map of the source does not draw. */
import assert from "node:assert/strict";
import { posix } from "node:path";
import { test } from "node:test";
import ts from "typescript";
import { filesBelow, readSource } from "./source-files.ts";

const LEAVES = ["activity", "policies", "audit", "fleet", "catalog", "keys", "users"];
const READ_MODELS = [
  "organizations",
  "providers",
  "dashboard",
  "settings",
  "demo",
  "replay",
  "rollouts",
  "signed-logs",
];
const DOMAINS = [...LEAVES, ...READ_MODELS];
const ROUTE = ["http/route.ts", "http/reply.ts", "http/entity-tag.ts"];
const FOLDERS = [
  "core",
  "http",
  "auth",
  "storage",
  "storage/files",
  "storage/postgres",
  ...DOMAINS,
  "metadata",
  "metrics",
  "portal",
  "control",
  "guard",
  "proof",
];

/** The allowed imports of each layer beside itself: other layers, or single files of them. */
const MAY_IMPORT = new Map<string, readonly string[]>([
  ["core", []],
  ["proof", ["core"]],
  ["http", ["core"]],
  ["auth", ["core"]],
  ["storage", ["core", "engine.ts"]],
  ...LEAVES.map((leaf) => [leaf, ["core", "auth", ...ROUTE]] as const),
  ...READ_MODELS.map((model) => [model, ["core", "auth", ...ROUTE, ...LEAVES]] as const),
  ["signed-logs", ["core", "proof", "auth", ...ROUTE, ...LEAVES]],
  ["demo", ["core", "auth", "engine.ts", ...ROUTE, ...LEAVES]],
  ["storage/files", ["core", "proof", "storage", "engine.ts", ...DOMAINS]],
  ["storage/postgres", ["core", "auth", "proof", "engine.ts", ...DOMAINS]],
  ["metadata", ["core", "http", "engine.ts"]],
  ["metrics", ["core", "auth", "engine.ts", ...ROUTE]],
  ["portal", ["core", "http", "metadata", "guard/agent-settings.ts", ...DOMAINS]],
  [
    "guard",
    [
      "core",
      "policies",
      "audit/agent-tools.ts",
      "audit/event-fields.ts",
      "audit/redaction/redact.ts",
    ],
  ],
  ["control", ["core", "auth", ...LEAVES, "organizations", "engine.ts"]],
  ["setting-table.ts", ["core"]],
  ["misspelled-settings.ts", ["core", "setting-table.ts"]],
  ["config.ts", ["core", "setting-table.ts", "misspelled-settings.ts"]],
  ["start-warnings.ts", ["config.ts"]],
  ["build-info.ts", ["core"]],
  ["routes.ts", FOLDERS],
  [
    "service.ts",
    [
      ...FOLDERS,
      ...["config.ts", "build-info.ts", "engine.ts", "retention.ts", "routes.ts", "open-engine.ts"],
      "shared-limits.ts",
    ],
  ],
  ["shared-limits.ts", ["core", "audit", "replay", "portal"]],
  ["retention.ts", ["core", "config.ts", "engine.ts"]],
  ["engine.ts", ["core", "auth", "config.ts", ...DOMAINS]],
  ["open-engine.ts", ["engine.ts", "storage/files", "storage/postgres"]],
  [
    "app.ts",
    [
      ...["core", "http", "demo", "metrics", "portal"],
      ...["config.ts", "service.ts", "start-warnings.ts"],
    ],
  ],
  ["index.ts", ["core", "app.ts", "config.ts"]],
  ["cli", [...FOLDERS, "app.ts", "build-info.ts", "config.ts", "engine.ts", "open-engine.ts"]],
  ["cli.ts", ["cli", "guard"]],
  ["server.ts", ["cli", "core"]],
  ["stamp.ts", ["core", "build-info.ts", "config.ts"]],
]);

const RUNTIME_PACKAGES = ["yaml"];

/** Packages that are installed where they are needed, by the one file that loads each. */
const OPTIONAL_PACKAGES = new Map([["storage/postgres/pool.ts", "pg"]]);

interface Import {
  readonly from: string;
  readonly target: string;
}

const imports: readonly Import[] = filesBelow("src").flatMap((path) =>
  ts.preProcessFile(readSource(path), true, true).importedFiles.map(({ fileName }) => ({
    from: path.replace("src/", ""),
    target: fileName,
  })),
);

/** The layer of a file, named from the source folder: its folder, or the file itself at the top. */
function layerOf(file: string): string {
  const engine = /^storage\/(?:files|postgres)(?=\/)/.exec(file);
  if (engine) return engine[0];
  return file.split("/")[0] ?? file;
}

function isAllowed({ from, target }: Import): boolean {
  const file = posix.join(posix.dirname(from), target);
  const [own, other] = [layerOf(from), layerOf(file)];
  const allowed = MAY_IMPORT.get(own) ?? [];
  return own === other || allowed.includes(other) || allowed.includes(file);
}

test("every import follows an arrow of the map", () => {
  const ours = imports.filter(({ target }) => target.startsWith("."));
  assert.ok(ours.length > 0);
  const others = ours.filter((one) => !isAllowed(one));
  assert.deepEqual(
    others.map(({ from, target }) => `${from} imports ${target}`),
    [],
  );
});

/** The imports that remain after files at an end of the graph are removed, until each file imports and is imported. */
function inCircles(edges: readonly (readonly [string, string])[]): readonly string[] {
  const importers = new Set(edges.map(([from]) => from));
  const imported = new Set(edges.map(([, to]) => to));
  const kept = edges.filter(([from, to]) => imported.has(from) && importers.has(to));
  if (kept.length < edges.length) return inCircles(kept);
  return edges.map(([from, to]) => `${from} imports ${to}`);
}

test("no files import each other in a circle", () => {
  const ours = imports.filter(({ target }) => target.startsWith("."));
  const edges = ours.map(
    ({ from, target }) => [from, posix.join(posix.dirname(from), target)] as const,
  );
  assert.deepEqual(inCircles(edges), []);
});

test("the splitting of shell texts knows nothing of policies but the budget of its steps", () => {
  const own = imports.filter(({ from }) => from.startsWith("policies/shell/"));
  const beyond = own.map(({ from, target }) => posix.join(posix.dirname(from), target));
  assert.deepEqual(
    [...new Set(beyond)].filter((file) => !/^(?:core|policies\/shell)\//.test(file)).toSorted(),
    ["policies/stack-traces.ts", "policies/step-budget.ts"],
  );
});

test("every file of the source belongs to a layer of the map", () => {
  const layers = new Set(filesBelow("src").map((path) => layerOf(path.replace("src/", ""))));
  assert.deepEqual(
    [...layers].filter((layer) => !MAY_IMPORT.has(layer)),
    [],
  );
});

test("the source imports Node's own modules, with their prefix, and the one runtime dependency", () => {
  const packages = imports.filter(({ target }) => !/^(?:\.|node:)/.test(target));
  const others = packages.filter(
    ({ from, target }) =>
      !RUNTIME_PACKAGES.includes(target) && OPTIONAL_PACKAGES.get(from) !== target,
  );
  assert.deepEqual(
    others.map(({ from, target }) => `${from} imports ${target}`),
    [],
  );
});
