import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import fc from "fast-check";
import { unifiedDiff } from "../../src/cli/policy/unified-diff.ts";
import { answering } from "../support/answering.ts";
import { run } from "../support/command-line.ts";
import { newDirectory } from "../support/server-process.ts";
import { ADMIN, ADMIN_SETTINGS, type App, start } from "../support/start.ts";

const V1 = `schema: signalbox/policy/v1
default: deny
rules:
  - id: read
    effect: allow
    match: { commands: [{ prefix: git log }] }
tests:
  - { command: git log, expect: allow, rule: read }
`;
const V2 = V1.replace("git log }]", "git log }, { prefix: git show }]");
const FAILING = `${V2}  - { command: git push, expect: allow }\n  - { command: git push, expect: deny }\n`;

/** A server, a file in a directory, and a command line with a key of the scope `policy`. */
async function setUp(t: TestContext, yaml: string | Buffer = V1) {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const asked = { name: "pipeline", scopes: "policy" };
  const { api_key: key } = (await app.post("/api/v1/api-keys", asked, admin)).body;
  const file = join(await newDirectory(t), "policy.yaml");
  await writeFile(file, yaml);
  const env = { SIGNALBOX_URL: app.url, SIGNALBOX_API_KEY: key };
  const policy = (...args: string[]) => run(["policy", ...args], "", env);
  return { app, admin, file, env, policy };
}

async function activeOf(app: App, headers: Record<string, string>) {
  return (await app.get("/api/v1/policies?active=true", headers)).body;
}

/** A file with a text, for commands that need no service. */
async function fileWith(text: string | Buffer): Promise<string> {
  const file = join(await newDirectory({ after }), "p.yaml");
  await writeFile(file, text);
  return file;
}

test("a valid document passes without a service", async () => {
  const file = await fileWith(V1);
  const env = { SIGNALBOX_URL: "http://127.0.0.1:1" };
  assert.deepEqual(await run(["policy", "validate", file], "", env), {
    ...{ code: 0, out: `${file}: valid\n`, error: "" },
  });
  assert.deepEqual(await run(["policy", "test", file], "", env), {
    ...{ code: 0, out: "1 of 1 tests pass\n", error: "" },
  });
  const { out } = await run(["policy", "test", file, "--json"]);
  assert.deepEqual(JSON.parse(out), { ok: true, file, tests: 1, failed: 0, problems: [] });
});

test("a failing test is named with its place, and is exit code 1", async () => {
  const file = await fileWith(FAILING);
  const said = "tests[1]: expected allow, but it is decided deny by the default";
  const error = `${file}:9:5: ${said}\n`;
  const validated = await run(["policy", "validate", file]);
  assert.deepEqual(validated, { code: 1, out: "", error });
  const tested = await run(["policy", "test", file]);
  assert.deepEqual(tested, { code: 1, out: "2 of 3 tests pass\n", error });
  const json = await run(["policy", "test", file, "--json"]);
  assert.deepEqual([json.code, json.error], [1, ""]);
  assert.deepEqual(JSON.parse(json.out), {
    ...{ ok: false, file, tests: 3, failed: 1 },
    problems: [{ message: said, line: 9, column: 5 }],
  });
});

test("every problem of the shape has its place", async () => {
  const file = await fileWith("schema: signalbox/policy/v1\nrule: []\nrules: 7\n");
  const { code, out, error } = await run(["policy", "test", file]);
  assert.deepEqual([code, out], [1, ""]);
  assert.deepEqual(error.split("\n"), [
    `${file}:2:1: rule: unknown key, did you mean "rules"?`,
    `${file}:3:8: rules: expected a list`,
    "",
  ]);
});

test("a document of another kind is valid, and has no tests", async () => {
  const file = await fileWith("any: thing\n");
  const validated = await run(["policy", "validate", file]);
  assert.equal(validated.code, 0);
  const unchecked = 'valid, but its rules are not checked without "schema: signalbox/policy/v1"';
  assert.equal(validated.out, `${file}: ${unchecked}\n`);
  const { code, error } = await run(["policy", "test", file]);
  assert.equal(code, 1);
  assert.match(error, /p\.yaml: has no tests, expected "schema: signalbox\/policy\/v1"\n$/);
});

test("a document is published, compared and read back", async (t) => {
  const { app, admin, file, policy } = await setUp(t);
  const first = await policy("diff", file);
  assert.match(first.out, /^--- \/dev\/null\n\+\+\+ \S+\n@@ -0,0 \+1,8 @@\n\+schema:/);
  const published = await policy("publish", file, "--version", "v1", "--note", "https://x.org/1");
  assert.deepEqual(published, { code: 0, out: "Published v1, active\n", error: "" });
  const { version, description, yaml } = await activeOf(app, admin);
  assert.deepEqual([version, description, yaml], ["v1", "https://x.org/1", V1]);
  assert.deepEqual(await policy("diff", file), { code: 0, out: "", error: "" });
  assert.deepEqual(await policy("pull"), { code: 0, out: V1, error: "" });

  await writeFile(file, V2);
  const diff = await policy("diff", file, "--json");
  const { changed, diff: text, version: against } = JSON.parse(diff.out);
  assert.deepEqual([diff.code, changed, against], [0, true, "v1"]);
  assert.match(text, /^--- v1\n\+\+\+ \S+\n@@ -3,6 \+3,6 @@\n rules:\n/);
  assert.match(text, /\n-    match: .*git log \}\] \}\n\+    match: .*git show \}\] \}\n/);
});

test("colours appear only in a terminal", async (t) => {
  const { file, env } = await setUp(t);
  const { out } = await run(["policy", "diff", file], "", { ...env, TERMINAL: "1" });
  assert.ok(out.includes("\n\u001b[32m+default: deny\u001b[0m\n"));
});

test("a terminal without colours shows control characters of a policy as escapes, too", async (t) => {
  const { app, admin, file, env } = await setUp(t);
  const hidden = "a\u202eb";
  const yaml = `# ${hidden}\n${V1}`;
  const version = "v\u2066";
  assert.equal((await app.post("/api/v1/policies", { version, yaml }, admin)).status, 201);
  const plain = { ...env, TERMINAL: "1", NO_COLOR: "1" };
  const shown = await run(["policy", "diff", file], "", plain);
  assert.match(shown.out, /^--- v\\u2066\n/);
  assert.ok(shown.out.includes("\n-# a\\u202eb\n"));
  const piped = await run(["policy", "diff", file], "", env);
  assert.match(piped.out, /^--- v\\u2066\n/);
  assert.ok(piped.out.includes(`\n-# ${hidden}\n`), "for patch, which takes the lines as they are");
});

test("a version can be stored without activating it", async (t) => {
  const { app, admin, file, policy } = await setUp(t);
  await policy("publish", file, "--version", "v1");
  await writeFile(file, V2);
  const { out } = await policy("publish", file, "--version", "v2", "--no-activate");
  assert.equal(out, "Published v2, not active\n");
  assert.equal((await activeOf(app, admin)).version, "v1");
  assert.equal((await app.get("/api/v1/policies/v2", admin)).body.yaml, V2);
});

test("an earlier version is activated again, and an unknown one is refused", async (t) => {
  const { app, admin, file, policy } = await setUp(t);
  await policy("publish", file, "--version", "v1");
  await writeFile(file, V2);
  await policy("publish", file, "--version", "v2");
  const back = await policy("activate", "v1");
  assert.deepEqual(back, { code: 0, out: "v1 is active\n", error: "" });
  assert.equal((await activeOf(app, admin)).yaml, V1);
  assert.equal(JSON.parse((await policy("activate", "v2", "--json")).out).active, true);
  const unknown = await policy("activate", "v3");
  assert.equal(unknown.code, 1);
  assert.match(unknown.error, /There is no policy version "v3"\n$/);
  assert.match((await policy("activate")).error, /VERSION is missing/);
  assert.equal((await activeOf(app, admin)).version, "v2");
});

test("the stored versions are listed, read and compared", async (t) => {
  const { app, file, policy } = await setUp(t);
  assert.deepEqual(await policy("list"), { code: 0, out: "", error: "" });
  await policy("publish", file, "--version", "v1");
  const first = new Date(app.now).toISOString();
  app.advance(60_000);
  await writeFile(file, V2);
  await policy("publish", file, "--version", "v\u2066", "--no-activate");
  const second = new Date(app.now).toISOString();
  assert.deepEqual(await policy("list"), {
    ...{ code: 0, error: "" },
    out: `  v\\u2066  ${second}  portal-api\n* v1       ${first}  portal-api\n`,
  });
  const { active, policies } = JSON.parse((await policy("list", "--json")).out);
  assert.deepEqual([active, policies.length, policies[0].yaml], ["v1", 2, undefined]);

  assert.deepEqual(await policy("pull", "v\u2066"), { code: 0, out: V2, error: "" });
  assert.equal((await policy("pull")).out, V1);
  const unknown = await policy("pull", "v3");
  assert.deepEqual([unknown.code, unknown.out], [1, ""]);
  assert.match(unknown.error, /There is no policy version "v3"\n$/);

  const added = /^--- v1\n\+\+\+ v\\u2066\n@@ [^]*\n\+    match: .*git show/;
  assert.match((await policy("diff", "--to", "v\u2066")).out, added);
  assert.match((await policy("diff", "--from", "v1", "--to", "v\u2066")).out, added);
  assert.match(
    (await policy("diff", "--from", "v\u2066", "--to", "v1")).out,
    /^\+.* git log \}\] \}$/m,
  );
  assert.deepEqual(await policy("diff", file, "--from", "v\u2066"), {
    code: 0,
    out: "",
    error: "",
  });
  assert.match(
    (await policy("diff", "--from", "v3", "--to", "v1")).error,
    /no policy version "v3"/,
  );
  for (const args of [["diff"], ["diff", file, "--to", "v1"]]) {
    const { code, error } = await policy(...args);
    assert.equal(code, 2);
    assert.match(error, /diff: Expected either FILE or --to VERSION; see/);
  }
});

test("the active text is not published again, unless under a name", async (t) => {
  const { app, admin, file, policy } = await setUp(t);
  await policy("publish", file, "--version", "v1");
  const again = await policy("publish", file);
  assert.deepEqual([again.code, again.out], [0, "v1 is active with the same text\n"]);
  const json = JSON.parse((await policy("publish", file, "--json")).out);
  assert.deepEqual(json, { ok: true, version: "v1", active: true, published: false });
  await policy("publish", file, "--version", "v2");
  assert.equal((await activeOf(app, admin)).version, "v2");
});

test("a publish that is refused is exit code 1, and stores nothing", async (t) => {
  const { app, admin, file, policy } = await setUp(t);
  await policy("publish", file, "--version", "v1");
  assert.equal(
    (await policy("publish", file, "--version", "v1")).out,
    "v1 is active with the same text\n",
  );
  await writeFile(file, V2);
  const taken = await policy("publish", file, "--version", "v1");
  const message = 'Policy version "v1" already exists';
  assert.deepEqual(taken, { code: 1, out: "", error: `signalbox policy publish: ${message}\n` });
  await writeFile(file, FAILING);
  const failing = await policy("publish", file);
  assert.equal(failing.code, 1);
  assert.match(failing.error, /policy\.yaml:9:5: tests\[1\]: expected allow/);
  const { ok, problems } = JSON.parse((await policy("publish", file, "--json")).out);
  assert.deepEqual([ok, problems.length], [false, 1]);
  const { policies } = (await app.get("/api/v1/policies", admin)).body;
  assert.equal(policies.length, 1);
});

const DENYING = V1.replace("default: deny", "default: allow").replace(
  "tests:",
  "  - { id: no-push, effect: deny, match: { commands: [{ prefix: git push }] } }\ntests:",
);
const OPEN = DENYING.replace("{ id: no-push,", "{ id: no-push, enabled: false,");

/** A service with an open policy and three allowed commands, and a file that denies two of them. */
async function setUpReplay(t: TestContext) {
  const own = await setUp(t, OPEN);
  await own.policy("publish", own.file, "--version", "open");
  const commands = ["git push", "git push -f", "git log"];
  const events = commands.map((command) => ({ command, executor: "ada", decision: "allowed" }));
  await own.app.post("/api/v1/audit", { events }, own.admin);
  await writeFile(own.file, DENYING);
  return own;
}

test("a replay does not blame the default for a tool without a command", async (t) => {
  const own = await setUp(t, "schema: signalbox/policy/v1\nrules: []\n");
  const tool = { capability: "mcp/box/run", runtime_version: "guard 1", decision: "denied" };
  await own.app.post("/api/v1/audit", tool, own.admin);
  const { out } = await own.policy("replay", own.file);
  assert.match(out, /^newly allowed since no rule applies to it: mcp\/box\/run$/m);
});

test("a replay says what a document would change, by which rule and in which line", async (t) => {
  const { file, policy } = await setUpReplay(t);
  const { code, out, error } = await policy("replay", file);
  assert.deepEqual([code, error], [0, ""]);
  assert.deepEqual(out.split("\n").slice(0, 2), [
    "3 events replayed: 2 newly denied, 0 newly allowed",
    `${file}:7: rule no-push: 2 newly denied, 0 newly allowed`,
  ]);
  assert.match(out, /^newly denied by rule no-push: git push -f, run by ada$/m);
  const json = JSON.parse((await policy("replay", file, "--window", "12h", "--json")).out);
  assert.deepEqual([json.ok, json.evaluated, json.newly_denied], [true, 3, 2]);
});

test("a limit makes a replay exit code 1 when it is exceeded, and not before", async (t) => {
  const { file, policy } = await setUpReplay(t);
  const most = await policy("replay", file, "--max-newly-denied", "2", "--max-newly-allowed", "0");
  assert.equal(most.code, 0);
  const { code, error } = await policy("replay", file, "--max-newly-denied", "1");
  assert.equal(code, 1);
  assert.equal(
    error,
    "signalbox policy replay: 2 events would be newly denied, expected at most 1: change the rules, or raise --max-newly-denied\n",
  );
  const json = await policy("replay", file, "--max-newly-denied", "1", "--json");
  assert.deepEqual([json.code, JSON.parse(json.out).ok], [1, false]);
});

test("a publish beyond its limit stores nothing, and shows the replay", async (t) => {
  const { app, admin, file, policy } = await setUpReplay(t);
  const { code, out, error } = await policy("publish", file, "--max-newly-denied", "1");
  assert.equal(code, 1);
  assert.match(out, /:7: rule no-push: 2 newly denied, 0 newly allowed$/m);
  assert.match(error, /2 events would be newly denied, expected at most 1: change the rules, or/);
  const json = await policy("publish", file, "--max-newly-denied", "1", "--json");
  assert.deepEqual([json.code, JSON.parse(json.out).replay.newly_denied], [1, 2]);
  assert.equal((await activeOf(app, admin)).version, "open");
  const most = ["--max-newly-denied", "2", "--window", "7d", "--version", "v2"];
  assert.equal((await policy("publish", file, ...most)).out, "Published v2, active\n");
});

test("a document that observes is named as such, beside the output", async (t) => {
  const { file, policy } = await setUp(t, V1.replace("default:", "mode: observe\ndefault:"));
  const said = "The document observes: it stops no command.\n";
  for (const [command, ...options] of [
    ["diff"],
    ["replay"],
    ["replay", "--json"],
    ["publish", "--version", "v1", "--json"],
    ["publish"],
  ] as const) {
    const { code, out, error } = await policy(command, file, ...options);
    assert.deepEqual([code, error], [0, said]);
    if (options.some((option) => option === "--json")) assert.equal(JSON.parse(out).ok, true);
  }
  assert.equal((await policy("diff", "--to", "v1")).error, said);
  await writeFile(file, V1);
  for (const command of ["diff", "replay", "publish"]) {
    assert.equal((await policy(command, file)).error, "");
  }
});

test("a replay of an invalid document names its problems", async (t) => {
  const { file, policy } = await setUp(t, FAILING);
  const { code, error } = await policy("replay", file);
  assert.equal(code, 1);
  assert.match(error, /policy\.yaml:9:5: tests\[1\]: expected allow/);
});

test("without a policy there is nothing to pull", async (t) => {
  const { code, out, error } = await (await setUp(t)).policy("pull");
  assert.deepEqual([code, out], [1, ""]);
  assert.match(error, /No policy is active: publish one, or activate a version/);
});

test("the key needs its scope, a token works too, and a missing one is named", async (t) => {
  const { app, admin, file, env } = await setUp(t);
  const { SIGNALBOX_API_KEY: _, ...bare } = env;
  const missing = await run(["policy", "pull"], "", bare);
  assert.equal(missing.code, 1);
  assert.match(
    missing.error,
    /set SIGNALBOX_API_KEY to a key of the scope policy, or SIGNALBOX_TOKEN/,
  );
  const asked = { name: "r", scopes: "report" };
  const { body } = await app.post("/api/v1/api-keys", asked, admin);
  const wrong = { ...env, SIGNALBOX_API_KEY: body.api_key };
  const refused = await run(["policy", "publish", file], "", wrong);
  assert.equal(refused.code, 1);
  assert.match(refused.error, /has the scope report, which does not include publishing policies/);
  const token = String(admin["authorization"]).replace("Bearer ", "");
  const asUser = { ...bare, SIGNALBOX_TOKEN: `${token}\n` };
  assert.equal((await run(["policy", "publish", file, "--version", "v1"], "", asUser)).code, 0);
  assert.equal((await activeOf(app, admin)).updated_by, ADMIN.email);
});

test("an address may name the prefix", async (t) => {
  const app = await start(t);
  const file = await fileWith(V1);
  const url = `${app.url}/api/public/`;
  assert.equal((await run(["policy", "publish", file, "--url", url])).code, 0);
  assert.equal((await run(["policy", "pull", "--url", `${app.url}/`])).out, V1);
});

for (const [what, args, said] of [
  ["no file", ["validate"], /^signalbox policy validate: FILE is missing; see .* --help\n$/],
  ["an empty file name", ["test", ""], /FILE: was empty, expected a file; see/],
  [
    "a missing file",
    ["validate", "/nowhere.yaml"],
    /\/nowhere\.yaml: does not exist: give the path/,
  ],
  ["a directory", ["diff", "/tmp"], /\/tmp: cannot be read \(EISDIR\): give the path/],
  ["a device without an end", ["validate", "/dev/zero"], /\/dev\/zero: is larger than 1 MiB/],
  ["an unknown option", ["pull", "--key", "x"], /--key/],
  [
    "a limit that is not a number",
    ["replay", "p", "--max-newly-denied", "few"],
    /--max-newly-denied: expected a number of events instead of "few"/,
  ],
  ["a window without unit", ["publish", "p", "--window", "7"], /--window: expected .* such as 12h/],
  ["a window of years", ["replay", "p", "--window", "366d"], /--window: expected .* such as 12h/],
  [
    "a key in the address",
    ["pull", "--url", "http://k:hunter2@x.org"],
    /--url: contains a password/,
  ],
  [
    "an address of another kind",
    ["pull", "--url", "ftp://x"],
    /--url: expected a URL such as https:/,
  ],
  [
    "no server",
    ["pull", "--url", "http://127.0.0.1:1"],
    /127\.0\.0\.1:1\/api\/v1 cannot be reached: ECONNREFUSED: start it, or set --url to its address/,
  ],
] as const) {
  test(`${what} is exit code 2, in one line`, async () => {
    const { code, out, error } = await run(["policy", ...args]);
    assert.deepEqual([code, out], [2, ""]);
    assert.match(error, said);
    assert.equal(error.split("\n").length, 2);
    assert.ok(!error.includes("hunter2"));
  });
}

test("a file that is not UTF-8 or too large is exit code 2", async () => {
  const latin = await fileWith(Buffer.from("a: \xe9\n", "latin1"));
  assert.match((await run(["policy", "publish", latin])).error, /is not UTF-8: save it/);
  const large = await fileWith("#".repeat((1 << 20) + 1));
  const { code, error } = await run(["policy", "validate", large]);
  assert.equal(code, 2);
  assert.match(error, /is larger than 1 MiB/);
});

test("a server that fails is exit code 2, and its text is quoted", async (t) => {
  const url = await answering(t, 502, "Bad \u001bGateway");
  const { code, error } = await run(["policy", "pull", "--url", url]);
  assert.equal(code, 2);
  assert.match(error, /The server answered 502: Bad \\u001bGateway\n$/);
});

/** The properties of all answers, with values of other kinds. */
const STRANGE = JSON.stringify({
  ...{ version: "v1", yaml: 5, evaluated: "all", rules: {}, examples: null },
  ...{ rollouts: { length: 1 }, id: [], state: true, stages: {} },
});

test("an answer of another program is exit code 2, and names the address", async (t) => {
  const file = await fileWith(V1);
  const commands = [
    ["pull"],
    ["activate", "v1"],
    ["diff", file],
    ["replay", file],
    ["publish", file, "--version", "v1"],
    ["rollout", "status"],
  ];
  for (const body of [
    "{}",
    "[]",
    "null",
    "<html>\u001b Sign in</html>",
    '{"rollouts":[]',
    STRANGE,
  ]) {
    const url = await answering(t, 200, body);
    for (const args of commands) {
      const { code, error } = await run(["policy", ...args, "--url", url]);
      assert.equal(code, 2, args.join(" "));
      assert.match(error, /is not one of Signalbox: .+: correct --url or SIGNALBOX_URL\n$/);
      assert.ok(!error.includes("\u001b"));
    }
  }
});

test("a problem that only the server finds is named by its place in the file", async (t) => {
  const refusal = JSON.stringify({ error: "yaml, line 3, column 8: rules: too new" });
  const url = await answering(t, 400, refusal);
  const file = await fileWith(V1);
  const { code, error } = await run(["policy", "publish", file, "--version", "v", "--url", url]);
  assert.equal(code, 1);
  assert.ok(error.endsWith(`${file}:3:8: rules: too new\n`), error);
});

const someLines = fc.array(fc.constantFrom("a", "b", "", "-c", "+d"), { maxLength: 30 });

/** Applies a unified diff as `patch` does, and checks each line that it shows of the first text. */
function patched(before: string, diff: string): string {
  const old = before.split(/(?<=\n)/).filter((line) => line !== "");
  const [, , ...lines] = diff.split(/(?<=\n)/);
  const made: string[] = [];
  let at = 0;
  for (const [i, line] of lines.entries()) {
    const [, from, count] = /^@@ -(\d+),(\d+) \+\d+,\d+ @@\n$/.exec(line) ?? [];
    if (from !== undefined) {
      const first = Number(from) - (count === "0" ? 0 : 1);
      made.push(...old.slice(at, first));
      at = first;
    } else if (!line.startsWith("\\")) {
      const isEnded = !lines[i + 1]?.startsWith("\\");
      const text = isEnded ? line.slice(1) : line.slice(1, -1);
      if (!line.startsWith("+")) assert.equal(text, old[at++]);
      if (!line.startsWith("-")) made.push(text);
    }
  }
  return [...made, ...old.slice(at)].join("");
}

test("the diff of two texts makes the second one of the first one", () => {
  const someText = fc
    .tuple(someLines, fc.boolean())
    .map(([lines, isEnded]) => lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : ""));
  fc.assert(
    fc.property(someText, someText, (before, after) => {
      const diff = unifiedDiff({ name: "p", text: before }, { name: "p", text: after });
      assert.equal(diff === "", before === after);
      if (diff !== "") assert.equal(patched(before, diff), after);
    }),
  );
});
