import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { Usage } from "../../bench/usage.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Thrown in place of ending the script. */
class Ended extends Error {
  readonly code: number;

  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}

const usage = new Usage("Usage: it [--size N] FILE", (code, text) => {
  throw new Ended(code, text);
});
const OPTIONS = { size: { type: "string", default: "1" } } as const;

function read(...args: string[]) {
  return usage.read(OPTIONS, { most: 1, args });
}

test("valid arguments are read", () => {
  const { values, positionals } = read("--size", "2", "file");
  assert.deepEqual([values.size, positionals], ["2", ["file"]]);
  assert.equal(usage.number("size", "0.5", 0, 1), 0.5);
  assert.equal(usage.integer("size", "10", 1, 10), 10);
});

for (const [what, attempt, code, said] of [
  ["--help", () => read("--help"), 0, /^Usage: it [^\n]+$/],
  ["-h beside others", () => read("x", "--frob", "-h"), 0, /^Usage: it [^\n]+$/],
  ["an unknown option", () => read("--frob"), 2, /^[^\n]*--frob[^\n]*\nUsage: it/],
  ["an option without its value", () => read("--size"), 2, /^[^\n]*--size[^\n]*\nUsage: it/],
  ["an argument too many", () => read("a", "b"), 2, /^"b" is not expected\nUsage: it/],
  ["a number out of range", () => usage.number("size", "11", 1, 10), 2, /^--size: expected a num/],
  ["no number", () => usage.number("size", "", 0, 10), 2, /^--size: expected a number from 0/],
  ["half a piece", () => usage.integer("size", "1.5", 1, 10), 2, /^--size: expected a whole/],
  [
    "a directory that is not there",
    () => usage.attempt(() => readdirSync("/nowhere/at/all")),
    1,
    /^"\/nowhere\/at\/all" does not exist and cannot be created \(ENOENT\)/,
  ],
] as const) {
  test(`${what} ends a script with ${code}`, async () => {
    await assert.rejects(
      async () => attempt(),
      (error: Ended) => error.code === code && said.test(error.message),
    );
  });
}

test("every script with options uses this reader", () => {
  const own = readdirSync(`${root}/bench`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && path !== "usage.ts")
    .filter((path) => readFileSync(`${root}/bench/${path}`, "utf8").includes("parseArgs"));
  assert.deepEqual(own, []);
});

for (const [script, args, code, said] of [
  ["bench/simulate.ts", ["--url", "localhost:1"], 2, /^--url: .*\nUsage: npm run simulate .*\n$/],
  [
    "bench/generate.ts",
    ["/dev/null/x"],
    1,
    /^"\/dev\/null\/x" is a file, or is inside a file .*\n$/,
  ],
  ["test/fuzz.ts", ["0", "--frob"], 2, /^There is no option "--frob"\nUsage: npm run fuzz .*\n$/],
] as const) {
  test(`${script} ${args.join(" ")} prints a short message and ends with ${code}`, async () => {
    const ran = await new Promise<{ code: unknown; text: string }>((resolve) => {
      const command = ["--import", "tsx", script, ...args];
      execFile(process.execPath, command, { cwd: root }, (error, out, text) =>
        resolve({ code: error?.code ?? 0, text: out + text }),
      );
    });
    assert.equal(ran.code, code, ran.text);
    assert.match(ran.text, said);
  });
}
