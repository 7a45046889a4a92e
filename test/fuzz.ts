/**
 * Runs every property test again and again, each round with another seed: `npm run fuzz -- SECONDS
 * [filter…]`. The last round is completed; 0 seconds make one round. A filter is a part of a path. Texts
 * and lists grow longer than in `npm test`. `FUZZ_SEED` is the first round's seed: it repeats a failure.
 */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const PROPERTIES = /from "fast-check"|-property\.ts"/;
const MAX_SEED = 2 ** 31;
const USAGE = "Usage: npm run fuzz -- SECONDS [filter…]";

const [duration = "", ...filters] = process.argv.slice(2);
const seconds = Number(duration);
if ([duration, ...filters].some((argument) => argument === "--help" || argument === "-h")) {
  console.log(USAGE);
  process.exit(0);
}
const option = filters.find((filter) => filter.startsWith("-"));
if (option !== undefined) fail(`There is no option "${option}"\n${USAGE}`, 2);
if (!/^\d+$/.test(duration)) fail(`SECONDS: expected a whole number\n${USAGE}`, 2);
const givenSeed = process.env["FUZZ_SEED"];
if (givenSeed !== undefined && !/^-?\d{1,10}$/.test(givenSeed)) {
  fail(`FUZZ_SEED: expected a whole number instead of "${givenSeed}"`, 2);
}

const files = readdirSync(`${root}/test`, { recursive: true, encoding: "utf8" })
  .map((path) => `test/${path.replaceAll("\\", "/")}`)
  .filter((path) => path.endsWith(".test.ts"))
  .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
  .filter((path) => PROPERTIES.test(readFileSync(`${root}/${path}`, "utf8")))
  .sort();
if (files.length === 0) fail(`No test of a property matches ${filters.join(", ")}`, 2);

const end = performance.now() + seconds * 1000;
let rounds = 0;
do {
  const seed = rounds === 0 && givenSeed !== undefined ? givenSeed : String(randomInt(MAX_SEED));
  const { isGood, output } = await round(seed);
  rounds++;
  console.log(`round ${rounds}, seed ${seed}: ${isGood ? "passed" : "failed"}`);
  if (!isGood) {
    const words = ["npm run fuzz -- 0", ...filters];
    fail(`${output}\nReplay it: FUZZ_SEED=${seed} ${words.join(" ")}`);
  }
} while (performance.now() < end);
console.log(`${files.length} test files, ${rounds} rounds, all passed`);

/** Runs all files once; the seed reaches them through a module that is loaded before each. */
function round(seed: string): Promise<{ readonly isGood: boolean; readonly output: string }> {
  const loaded = ["--import=tsx", "--import=./test/support/fuzz-seed.ts"];
  const flags = [...loaded, "--test", "--test-reporter=dot"];
  const runner = spawn(process.execPath, [...flags, ...files], {
    cwd: root,
    env: { ...process.env, FUZZ_SEED: seed, FUZZ_SIZE: "medium" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  runner.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve) => {
    runner.once("close", (code) => resolve({ isGood: code === 0, output }));
  });
}

function fail(message: string, code = 1): never {
  console.error(message);
  process.exit(code);
}
