/**
 * Runs the tests: `node --import tsx test/run.ts [filter…]`. Every `*.test.ts` is named to the
 * runner, since Node 20 finds none by itself and then reports success. A filter is a part of a path.
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const filters = process.argv.slice(2);

const files = readdirSync(`${root}/test`, { recursive: true, encoding: "utf8" })
  .map((path) => `test/${path.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".test.ts"))
  .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
  .sort();

if (files.length === 0) {
  console.error(
    filters.length === 0 ? "There are no tests" : `No test matches ${filters.join(", ")}`,
  );
  process.exit(1);
}

const flags = [
  "--import=tsx",
  "--test",
  "--test-reporter=spec",
  `--test-concurrency=${Math.max(1, availableParallelism())}`,
];
const runner = spawn(process.execPath, [...flags, ...files], { cwd: root, stdio: "inherit" });
runner.on("exit", (code, signal) => {
  console.log(`${files.length} test files, ${code === 0 ? "all passed" : "not all passed"}`);
  process.exitCode = signal === null ? (code ?? 1) : 1;
});
