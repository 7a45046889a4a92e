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
import { compileSources } from "./support/compile.ts";
import { withoutPostgres } from "./support/postgres-programs.ts";

// Few enough to keep the processors busy to the end, and large enough that loading, of 3 seconds, hardly counts.
const FILES_IN_BATCH = 36;
/** The same for files that take several times as long, with browsers, databases and processes; these begin first. */
const LONG_FILES_IN_BATCH = 16;
const FOLDERS_OF_LONG_FILES = [
  "test/portal/browser/",
  "test/storage/postgres/",
  "test/guard/",
  "test/journeys/",
];

const SEED = "20261120";
/** The time for the report of a batch's last tests. */
const REPORT_MS = 500;

/** Journeys that read no files run again on the other engines, with filters only if one begins with the engine. */
const WITHOUT_FILES = [
  ...[
    "audit-additions",
    "audit-list",
    "audit-redaction",
    "audit-repeated",
    "audit-reporter",
    "audit",
    "fleet",
  ],
  ...["keys", "policies", "quotas", "replay", "rollouts", "runtime-day", "tenants", "users"],
];
const ON_MEMORY = ["key-scopes", "roles"];
/** These restart the service, and PostgreSQL keeps what is stored. */
const ON_POSTGRES = [
  ...["activity", "audit-additions-live", "bad-input", "catalog", "checkpoints", "demo"],
  ...["long-poll", "model", "overview"],
  ...["policy-documents", "restart", "sign-in-flood", "sign-out", "signed-logs", "surfaces"],
];
const filters = process.argv.slice(2);
const hasPostgres = withoutPostgres === false;
// In memory these show that nothing assumes files, which PostgreSQL shows too: they run without it, or if asked for.
const onMemory =
  hasPostgres && !filters.some((filter) => filter.startsWith("memory:"))
    ? ON_MEMORY
    : [...WITHOUT_FILES, ...ON_MEMORY];
const JOURNEYS = new Map([
  ["memory", onMemory],
  ["postgres", hasPostgres ? [...WITHOUT_FILES, ...ON_POSTGRES] : []],
]);
if (withoutPostgres !== false) console.log(`Without tests over PostgreSQL: ${withoutPostgres}`);

const root = fileURLToPath(new URL("..", import.meta.url));

const files = readdirSync(`${root}/test`, { recursive: true, encoding: "utf8" })
  .map((path) => `test/${path.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".test.ts"))
  .sort()
  .filter((path) => isWanted(path));
const onEngines = Array.from(JOURNEYS, ([engine, names]) => ({
  engine,
  files: names
    .map((name) => `test/journeys/${name}.test.ts`)
    .filter((path) => isWanted(path, `${engine}:`)),
}));
const count = onEngines.reduce((sum, { files: own }) => sum + own.length, files.length);

function isWanted(path: string, engine = ""): boolean {
  return (
    filters.length === 0 ||
    filters.some((filter) => filter.startsWith(engine) && `${engine}${path}`.includes(filter))
  );
}

if (count === 0) {
  console.error(
    filters.length === 0 ? "There are no tests" : `No test matches ${filters.join(", ")}`,
  );
  process.exit(1);
}

/**
 * Opens each batch. The runner ends a batch, and cleans up, as soon as no test is left, though
 * files may still be loading. So the first test lasts until all files are loaded, or one cannot be
 * loaded; without that second end later versions of Node would wait forever.
 *
 * The first test starts the runner, which would follow every promise of the process to the test that made it: a tenth
 * to a third of the time of most tests. It does so only to name the test of an error that no test catches. Such an
 * error ends the batch here, with its stack.
 *
 * When its last test has ended, the runner exits, although its report of the last tests may be on its way: up to
 * twenty of them were missing. So that exit waits.
 */
const GATE = `import { createHook } from "node:async_hooks";
import { test } from "node:test";
const { exit } = process;
process.exit = (...given) => void setTimeout(exit, ${REPORT_MS}, ...given);
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error) => {
    console.error("No test caught this:", error);
    exit(1);
  });
}
let [open, fail] = [];
const loaded = new Promise((...ends) => ([open, fail] = ends));
const { prototype } = createHook({}).constructor;
const { enable } = prototype;
prototype.enable = function () {
  return this;
};
test("the files of this batch are loaded", () => loaded);
prototype.enable = enable;
`;

/** Modules that one process loads one after the other before it runs their tests, in batches of about one size. */
function batchesOf(
  files: readonly string[],
  most: number,
  first: readonly string[] = [],
): readonly string[][] {
  const batches: string[][] = [];
  const size = Math.ceil(files.length / Math.ceil(files.length / most));
  for (let start = 0; start < files.length; start += size) {
    const own = files.slice(start, start + size);
    batches.push(["test/support/fuzz-seed.ts", ...first, ...own]);
  }
  return batches;
}

const compiled = compileSources();
const folder = mkdtempSync(join(tmpdir(), "signalbox-batches-"));
const flags = [
  "--max-semi-space-size=64", // MiB: collecting the garbage of tests takes a sixth of their time otherwise
  "--test",
  "--test-reporter=spec",
  "--test-force-exit", // a failing test may leave a server open, and must not hang the run
  `--test-timeout=${30 * 60_000}`, // of a batch, too, on a busy machine
  // Three more than processors: tests of processes, browsers and databases wait more than they compute.
  `--test-concurrency=${availableParallelism() + 3}`,
];
const isIn = (folder: string) => (path: string) => path.startsWith(folder);
const isLong = (path: string): boolean => FOLDERS_OF_LONG_FILES.some((one) => isIn(one)(path));
const batches = [
  ...onEngines.flatMap(({ engine, files: own }) =>
    batchesOf(own, LONG_FILES_IN_BATCH, [`test/support/use-${engine}.ts`]),
  ),
  ...FOLDERS_OF_LONG_FILES.flatMap((folder) =>
    batchesOf(files.filter(isIn(folder)), LONG_FILES_IN_BATCH),
  ),
  ...batchesOf(
    files.filter((path) => !isLong(path)),
    FILES_IN_BATCH,
  ),
];
// The runner sorts by name.
const paths = batches.map((modules, index) => {
  const urls = modules.map((file) => pathToFileURL(join(compiled, file.replace(/ts$/, "js"))));
  const imports = urls.map((url) => `await import(${JSON.stringify(url)});\n`);
  const path = join(folder, `${String(index).padStart(3, "0")}.test.mjs`);
  writeFileSync(
    path,
    `${GATE}try {\n${imports.join("")}open();\n} catch (error) {\nfail(error);\n}\n`,
  );
  return path;
});
const runner = spawn(process.execPath, [...flags, ...paths], {
  cwd: root,
  env: { FUZZ_SEED: SEED, ...process.env },
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => runner.kill(signal));
runner.on("exit", (code, signal) => {
  for (const made of [folder, compiled]) rmSync(made, { recursive: true, force: true });
  console.log(`${count} test files, ${code === 0 ? "all passed" : "not all passed"}`);
  process.exitCode = signal === null ? (code ?? 1) : 1;
});
