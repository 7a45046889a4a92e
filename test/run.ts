/**
 * Runs the tests: `node --import tsx test/run.ts [filter…]`. Every `*.test.ts` is named, since Node
 * 20 finds none by itself and then reports success. A filter is a part of a path.
 *
 * Files run in batches, one process each: loading the service takes longer than running most files,
 * and all files of a batch share one browser. Properties begin with a fixed seed, so that results
 * repeat; `npm run fuzz` searches with other seeds.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// Few enough to keep the processors busy to the end, and large enough that loading hardly counts.
const FILES_IN_BATCH = 8;

const SEED = "20261120";

/** Journeys that read no files run a second time, on the engine in memory; a filter finds them by `memory:`. */
const ON_MEMORY = [
  ...["audit-additions", "audit-list", "audit-reporter", "audit", "fleet", "key-scopes", "keys"],
  ...["policies", "quotas", "roles", "runtime-day", "tenants", "users"],
].map((name) => `memory:test/journeys/${name}.test.ts`);

const root = fileURLToPath(new URL("..", import.meta.url));
const filters = process.argv.slice(2);

const files = readdirSync(`${root}/test`, { recursive: true, encoding: "utf8" })
  .map((path) => `test/${path.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".test.ts"))
  .sort()
  .filter(isWanted);
const onMemory = ON_MEMORY.filter(isWanted).map((path) => path.replace("memory:", ""));

function isWanted(path: string): boolean {
  return filters.length === 0 || filters.some((filter) => path.includes(filter));
}

if (files.length + onMemory.length === 0) {
  console.error(
    filters.length === 0 ? "There are no tests" : `No test matches ${filters.join(", ")}`,
  );
  process.exit(1);
}

/**
 * Opens each batch. The runner ends a batch, and cleans up, as soon as no test is left, though
 * files may still be loading. So the first test lasts until all files are loaded, or one cannot be
 * loaded; without that second end later versions of Node would wait forever.
 */
const GATE = `import { test } from "node:test";
let [open, fail] = [];
const loaded = new Promise((...ends) => ([open, fail] = ends));
test("the files of this batch are loaded", () => loaded);
`;

/** Writes a module for each batch, which loads its files one after the other and then runs them. */
function writeBatches(
  folder: string,
  name: string,
  files: readonly string[],
  first: readonly string[] = [],
): readonly string[] {
  const batches: string[] = [];
  for (let start = 0; start < files.length; start += FILES_IN_BATCH) {
    const own = files.slice(start, start + FILES_IN_BATCH);
    const batch = ["test/support/fuzz-seed.ts", ...first, ...own];
    const urls = batch.map((file) => pathToFileURL(join(root, file)));
    const path = join(folder, `${name}-${String(batches.length).padStart(3, "0")}.test.mjs`);
    const imports = urls.map((url) => `await import(${JSON.stringify(url)});\n`);
    writeFileSync(
      path,
      `${GATE}try {\n${imports.join("")}open();\n} catch (error) {\nfail(error);\n}\n`,
    );
    batches.push(path);
  }
  return batches;
}

const folder = mkdtempSync(join(tmpdir(), "signalbox-batches-"));
const flags = [
  "--import=tsx",
  "--test",
  "--test-reporter=spec",
  "--test-force-exit", // a failing test may leave a server open, and must not hang the run
  `--test-timeout=${10 * 60_000}`,
  `--test-concurrency=${Math.max(1, availableParallelism())}`,
];
const batches = [
  ...writeBatches(folder, "batch", files),
  ...writeBatches(folder, "memory", onMemory, ["test/support/use-memory.ts"]),
];
const runner = spawn(process.execPath, [...flags, ...batches], {
  cwd: root,
  env: { FUZZ_SEED: SEED, ...process.env },
  stdio: "inherit",
});
runner.on("exit", (code, signal) => {
  rmSync(folder, { recursive: true, force: true });
  console.log(
    `${files.length + onMemory.length} test files, ${code === 0 ? "all passed" : "not all passed"}`,
  );
  process.exitCode = signal === null ? (code ?? 1) : 1;
});
