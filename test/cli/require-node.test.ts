import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

// The built programs, as an older Node sees them: it tells its version, and `node:crypto` lacks what the program imports.

const packageFile = new URL("../../package.json", import.meta.url);
const { engines } = JSON.parse(readFileSync(packageFile, "utf8")) as { engines: { node: string } };
const [, oldest = ""] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? [];
const [major = 0, minor = 0] = oldest.split(".").map(Number);

const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const WITHOUT_CRYPTO = dataUrl(`
  export function resolve(specifier, context, next) {
    if (specifier === "node:crypto") throw new SyntaxError("no export named 'hash'");
    return next(specifier, context);
  }
`);

function startWith(version: string, program: string, args: readonly string[], lacksCrypto = true) {
  const preload = dataUrl(`
    import { register } from "node:module";
    const versions = { ...process.versions, node: ${JSON.stringify(version)} };
    Object.defineProperty(process, "versions", { value: versions });
    if (${lacksCrypto}) register(${JSON.stringify(WITHOUT_CRYPTO)});
  `);
  const file = fileURLToPath(new URL(`../../dist/${program}`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", preload, file, ...args],
    { env: { PATH: process.env["PATH"] }, encoding: "utf8" },
  );
  return { status, stdout, stderr };
}

for (const [program, args] of [
  ["server.js", []],
  ["cli.js", ["--help"]],
  ["cli.js", ["guard", "--help"]],
] as const) {
  for (const version of ["16.20.2", "18.20.8", `${major}.${minor - 1}.9`]) {
    test(`${program} ${args.join(" ")} on Node ${version} says which Node it needs`, () => {
      const stderr = `Signalbox needs Node ${oldest} or later, this is Node ${version}\n`;
      assert.deepEqual(startWith(version, program, args), { status: 1, stdout: "", stderr });
    });
  }
}

for (const version of [`${oldest}.0`, `${major + 2}.0.0`]) {
  test(`cli.js --help on Node ${version} prints the help`, () => {
    const { status, stdout, stderr } = startWith(version, "cli.js", ["--help"], false);
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(stdout, /^Usage: signalbox COMMAND/);
  });
}
