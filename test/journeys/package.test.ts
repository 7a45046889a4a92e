import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

// The package as users get it: packed in a clean clone, installed into an empty folder, and used
// from there.

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "signalbox-package-"));

const harness = `
import { startSignalbox, type Signalbox } from "signalbox";

const box: Signalbox = await startSignalbox({ dataDir: "./data", requireAuth: () => false, now: () => 1_800_000_000_000 });
const api = box.url + "/api/v1";
const headers = { "Content-Type": "application/json" };
await fetch(api + "/policies", { method: "POST", headers, body: JSON.stringify({ yaml: "rules: []", version: "v1" }) });
const policy = await (await fetch(api + "/policies?active=true")).json() as { version: string; updated_at: string };
await box.close();
console.log(JSON.stringify([policy.version, policy.updated_at]));
`;
const expected = '["v1","2027-01-15T08:00:00.000Z"]\n';

/** npm hands its own options to all programs that it runs; these tests need the scripts of the package. */
const env = { ...process.env, npm_config_ignore_scripts: "false" };

function run(file: string, args: readonly string[], cwd = folder): string {
  const stdio = ["ignore", "pipe", "pipe"] as const;
  return execFileSync(file, args, { cwd, env, encoding: "utf8", stdio: [...stdio] });
}

/** Copies the content of a clone, without built files; the dependencies are linked from here. */
function cleanClone(): string {
  const clone = join(folder, "clone");
  const list = run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], root);
  const paths = list.split("\0").filter((path) => path !== "" && existsSync(join(root, path)));
  for (const path of paths) cpSync(join(root, path), join(clone, path));
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  return clone;
}

/** Packs a package into the folder and returns the name of the file. */
function pack(path: string, ...words: readonly string[]): string {
  return run("npm", ["pack", "--silent", ...words, "--pack-destination", folder], path).trim();
}

// Its dependencies are taken from here, so that no registry is needed.
const overrides = {
  yaml: `file:./${pack(join(root, "node_modules", "yaml"), "--ignore-scripts")}`,
};
const project = { type: "module", private: true, overrides };
writeFileSync(join(folder, "package.json"), JSON.stringify(project));
const clone = cleanClone();
run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, pack(clone))]);
after(() => rmSync(folder, { recursive: true, force: true }));

const installed = join(folder, "node_modules", "signalbox");

test("the package contains no tests, no sources and no source maps", () => {
  const paths = readdirSync(installed, { recursive: true, encoding: "utf8" });
  assert.ok(paths.includes(join("dist", "index.d.ts")));
  const strays = paths.filter((path) => /\.map$|\.test\.|^src|^test|(?<!\.d)\.ts$/.test(path));
  assert.deepEqual(strays, []);
});

test("the package contains its licence, and nothing that needs the sources", () => {
  const paths = readdirSync(installed, { recursive: true, encoding: "utf8" });
  assert.ok(paths.includes("LICENSE") && paths.includes(join("deploy", "kubernetes.yaml")));
  const useless = paths.filter((path) => /^dist.stamp\.|compose\.yaml$|Dockerfile$/.test(path));
  assert.deepEqual(useless, []);
  const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
  const lastStage = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
  assert.match(lastStage, /^COPY LICENSE /m);
});

test("every link of the packed documents leads to a file in the package", () => {
  const paths = readdirSync(installed, { recursive: true, encoding: "utf8" });
  const documents = paths.filter((path) => path.endsWith(".md"));
  assert.ok(documents.includes("README.md") && documents.length > 10);
  const broken = documents.flatMap((path) => {
    const text = readFileSync(join(installed, path), "utf8");
    const links = [...text.matchAll(/\]\(([^)\s#]+)|(?:src|href)="([^"#]+)/g)]
      .map(([, link, source]) => link ?? source ?? "")
      .filter((link) => !/^https?:/.test(link));
    return links
      .filter((link) => !existsSync(join(installed, dirname(path), link)))
      .map((link) => `${path}: ${link}`);
  });
  assert.deepEqual(broken, []);
});

test("yaml is the package's only dependency", () => {
  const { dependencies } = JSON.parse(run("npm", ["ls", "--all", "--json"])) as {
    dependencies: Record<string, { dependencies?: Record<string, { version?: string }> }>;
  };
  assert.deepEqual(Object.keys(dependencies), ["signalbox"]);
  // npm lists an optional peer that is not installed as well, without a version.
  const own = Object.entries(dependencies["signalbox"]?.dependencies ?? {});
  const installedOnes = own.filter(([, { version }]) => version !== undefined);
  assert.deepEqual(
    installedOnes.map(([name]) => name),
    ["yaml"],
  );
});

test("an image's build states its commit", () => {
  run(process.execPath, [join("dist", "stamp.js"), "0123abcd"], clone);
  const stamp = readFileSync(join(clone, "dist", "build-info.json"), "utf8");
  assert.equal((JSON.parse(stamp) as { commit: string }).commit, "0123abcd");
});

test("a build takes its time from SOURCE_DATE_EPOCH, and refuses a time that is not one", () => {
  const buildAt = (seconds: string) =>
    spawnSync(process.execPath, [join("dist", "stamp.js")], {
      ...{ cwd: clone, encoding: "utf8" },
      env: { ...env, SOURCE_DATE_EPOCH: seconds },
    });
  assert.equal(buildAt("1800000000").status, 0);
  const stamp = readFileSync(join(clone, "dist", "build-info.json"), "utf8");
  const { build_time } = JSON.parse(stamp) as { build_time: string };
  assert.equal(build_time, "2027-01-15T08:00:00.000Z");
  const { status, stderr } = buildAt("yesterday");
  assert.equal(status, 1);
  assert.match(stderr, /SOURCE_DATE_EPOCH: "yesterday" is not understood, expected whole seconds/);
});

test("a harness in plain JavaScript starts a service of its own", () => {
  const plain = harness
    .replace(", type Signalbox", "")
    .replace(": Signalbox", "")
    .replace(/ as \{.*\}/, "");
  writeFileSync(join(folder, "harness.mjs"), plain);
  assert.equal(run(process.execPath, ["harness.mjs"]), expected);
});

test("with a database and without its driver, the start says what to install", () => {
  const env = { PATH: process.env["PATH"], DATABASE_URL: "postgres://127.0.0.1/signalbox" };
  const server = join(installed, "dist", "server.js");
  const { status, stderr } = spawnSync(process.execPath, [server], { env, encoding: "utf8" });
  assert.equal(
    stderr,
    "Signalbox cannot start: DATABASE_URL: the PostgreSQL driver is not installed, add it with: npm install pg\n",
  );
  assert.equal(status, 1);
});

test("a harness in TypeScript compiles against the package's own types and runs", () => {
  writeFileSync(join(folder, "typed.ts"), harness);
  writeFileSync(
    join(folder, "globals.d.ts"),
    "declare const console: { log(text: string): void };\n" +
      "declare function fetch(url: string, init?: object): Promise<{ json(): Promise<unknown> }>;\n",
  );
  const lib = ["es2023"]; // without the DOM, and without the types of Node
  const options = {
    strict: true,
    target: "es2022",
    module: "nodenext",
    lib,
    types: [],
    outDir: "out",
  };
  const project = { compilerOptions: options, files: ["typed.ts", "globals.d.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  run(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", "."]);
  assert.equal(run(process.execPath, [join("out", "typed.js")]), expected);
});

test("an editor shows the description of each option", () => {
  const path = join(folder, "node_modules", "signalbox", "dist", "index.d.ts");
  const program = ts.createProgram([path], { module: ts.ModuleKind.NodeNext, types: [] });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const exported = source && checker.getSymbolAtLocation(source);
  const options = exported?.exports?.get(ts.escapeLeadingUnderscores("SignalboxOptions"));
  assert.ok(options);
  const properties = checker.getDeclaredTypeOfSymbol(options).getProperties();
  assert.ok(properties.length > 20);
  const undocumented = properties.filter(
    (property) => property.getDocumentationComment(checker).length === 0,
  );
  assert.deepEqual(
    undocumented.map(({ name }) => name),
    [],
  );
});

test("the installed server runs without other files", () => {
  const script = `
    import { spawn } from "node:child_process";
    const child = spawn(process.execPath, ["node_modules/signalbox/dist/server.js"], {
      env: { PORT: "0", DATA_DIR: "./served", LOG_LEVEL: "silent" }, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.setEncoding("utf8");
    child.stdout.once("data", async (line) => {
      const url = line.match(/^Signalbox listening on (\\S+)\\n$/)[1];
      console.log((await (await fetch(url + "/health")).json()).status);
      child.kill("SIGTERM");
    });
    child.on("exit", (code) => console.log("exit", code));
  `;
  writeFileSync(join(folder, "serve.mjs"), script);
  assert.equal(run(process.execPath, ["serve.mjs"]), "ok\nexit 0\n");
});

test("the installed program prints help, creates a user and verifies a directory", () => {
  const npx = (...args: string[]) => run("npx", ["--no-install", "signalbox", ...args]);
  assert.match(npx("--help"), /^Usage: signalbox COMMAND/);
  const created = execFileSync(
    "npx",
    ["--no-install", "signalbox", "user", "add", "--email", "ada@example.com", "--role", "admin"],
    {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, DATA_DIR: "./piped" },
      input: "correct horse battery\n",
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  assert.match(created, /^Created admin ada@example\.com/);
  assert.match(npx("verify", "./piped"), /all is well\n$/);
});
