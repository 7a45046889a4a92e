/** Runs the pipeline of docs/repository.md as it is printed, with the built program. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse } from "yaml";
import { writePrograms } from "../support/programs.ts";
import { newDirectory } from "../support/server-process.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const PAGE = new URL("../../docs/repository.md", import.meta.url);
const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

interface Job {
  readonly if?: string;
  readonly needs?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string }[];
}

/** A step that ran, with its end. */
interface Ran {
  readonly command: string;
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** An example of the page, by the comment above it. */
async function example(name: string): Promise<string> {
  const page = await readFile(PAGE, "utf8");
  const [, yaml] = new RegExp(`<!-- ${name} -->\\n\`\`\`yaml\\n([^]*?)\`\`\``).exec(page) ?? [];
  assert.ok(yaml !== undefined);
  return yaml;
}

/** The jobs of the pipeline, of which the rollout's replaces the one that publishes. */
async function jobs(isRollout: boolean): Promise<readonly Job[]> {
  const { jobs } = parse(await example("pipeline")) as { readonly jobs: Record<string, Job> };
  const other = isRollout ? (parse(await example("rollout job")) as Record<string, Job>) : {};
  return Object.values({ ...jobs, ...other });
}

/** A server, and a repository with programs in place of `npm` and `npx`: the package is not installed. */
async function setUp(t: TestContext, isRollout = false) {
  // A test lets hours pass in each of its rounds, for as long as the pipeline runs.
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true, jwtExpiryHours: 8_760 });
  const admin = await app.asUser(ADMIN);
  const asked = { name: "pipeline", scopes: "policy" };
  const { api_key: key } = (await app.post("/api/v1/api-keys", asked, admin)).body;
  const directory = await newDirectory(t);
  await writePrograms(directory, {
    npm: "exit 0",
    npx: `test "$1" = signalbox && shift && exec "${process.execPath}" "${CLI}" "$@"`,
  });

  const values = new Map([
    ["secrets.SIGNALBOX_API_KEY", key],
    ["github.server_url", "https://git.example.com"],
    ["github.repository", "acme/policy"],
    ["github.sha", "c0ffee"],
  ]);
  /** The value of a variable of a job, as the service that runs the pipeline would fill it in. */
  const filled = (value: string): string =>
    value
      .replace("https://signalbox.example.com", app.url)
      .replaceAll(/\$\{\{ ([\w.]+) \}\}/g, (_, name: string) => values.get(name) ?? "unknown");

  /** Runs the jobs of an event, up to the first step that fails. */
  const push = async (event: "pull_request" | "push", yaml: string): Promise<readonly Ran[]> => {
    await writeFile(join(directory, "policy.yaml"), yaml);
    await writeFile(join(directory, "rollout.yaml"), await example("stages"));
    const ran: Ran[] = [];
    for (const { if: condition, env = {}, steps } of await jobs(isRollout)) {
      if (condition !== undefined && condition !== `github.event_name == '${event}'`) continue;
      const own = Object.entries(env).map(([name, value]) => [name, filled(value)] as const);
      const path = [directory, process.env["PATH"]].join(delimiter);
      for (const { run: command } of steps) {
        if (command === undefined) continue;
        const options = { cwd: directory, env: { ...Object.fromEntries(own), PATH: path } };
        const ended = await promisify(execFile)("sh", ["-e", "-c", command], options).then(
          ({ stdout, stderr }) => ({ code: 0, out: stdout, error: stderr }),
          ({ code, stdout, stderr }) => ({ code, out: stdout, error: stderr }),
        );
        ran.push({ command, ...ended });
        if (ended.code !== 0) return ran;
      }
    }
    return ran;
  };
  const report = (events: readonly object[]) => app.post("/api/v1/audit", { events }, admin);
  const versions = async () => (await app.get("/api/v1/policies", admin)).body.policies;
  return { app, admin, push, report, versions };
}

const POLICY = `schema: signalbox/policy/v1
default: deny
rules:
  - { id: read, effect: allow, match: { commands: [{ prefix: git log }] } }
tests:
  - { command: git log, expect: allow }
`;

test("a pull request is tested, and publishes nothing", async (t) => {
  const { push, versions } = await setUp(t);
  const good = await push("pull_request", POLICY);
  assert.deepEqual([good.at(-1)?.code, good.at(-1)?.out], [0, "1 of 1 tests pass\n"]);
  const bad = await push("pull_request", POLICY.replace("default: deny", "default: dney"));
  assert.equal(bad.at(-1)?.code, 1);
  assert.equal(bad.at(-1)?.error, "policy.yaml:2:10: default: expected allow or deny\n");
  assert.deepEqual(await versions(), []);
});

test("a merge is tested, compared and published with the URL of its commit, once", async (t) => {
  const { push, versions } = await setUp(t);
  const steps = await push("push", POLICY);
  assert.deepEqual(
    steps.map(({ code }) => code),
    steps.map(() => 0),
    steps.at(-1)?.error,
  );
  assert.match(steps.at(-2)?.out ?? "", /^\+default: deny$/m);
  assert.match(steps.at(-1)?.out ?? "", /^Published \S+, active\n$/);
  const [version, ...others] = await versions();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [version.active, version.yaml, version.description],
    [true, POLICY, "https://git.example.com/acme/policy/commit/c0ffee"],
  );
  const again = await push("push", POLICY);
  assert.match(again.at(-1)?.out ?? "", /is active with the same text\n$/);
  assert.equal((await versions()).length, 1);
  const failing = await push("push", `${POLICY}  - { command: git log, expect: deny }\n`);
  assert.equal(failing.at(-1)?.code, 1);
  assert.equal((await versions()).length, 1);
});

test("a merge that would deny more commands than the limit is not published", async (t) => {
  const { push, report, versions } = await setUp(t);
  await push("push", POLICY);
  const commands = Array.from({ length: 11 }, (_, i) => `git log -${i}`);
  await report(commands.map((command) => ({ command, decision: "allowed" })));
  const stricter = POLICY.replaceAll("git log", "git show");
  const refused = (await push("push", stricter)).at(-1);
  assert.equal(refused?.code, 1);
  assert.match(refused?.error ?? "", /11 events would be newly denied, expected at most 10/);
  assert.match(
    refused?.out ?? "",
    /^policy\.yaml: the default: 11 newly denied, 0 newly allowed$/m,
  );
  assert.equal((await versions()).length, 1);
});

test("a merge is rolled out stage by stage, and its job ends with the rollout", async (t) => {
  const { app, admin, push, versions } = await setUp(t, true);
  const open = "schema: signalbox/policy/v1\ndefault: allow\nrules: []\n";
  await app.post("/api/v1/policies", { version: "v1", yaml: open }, admin);
  const names = Array.from({ length: 12 }, (_, i) => `m${i}`);
  /** Each runtime fetches its version, reports it, and sends a command that the version decided. */
  const live = async (): Promise<void> => {
    const each = names.map(async (name) => {
      const labels = { env: "staging" };
      const asked = { ...admin, "X-Runtime-Name": name };
      const { version } = (await app.get("/api/v1/policies?active=true", asked)).body;
      const heartbeat = { name, labels, policy_version: version };
      await app.post("/api/v1/fleet/heartbeat", heartbeat, admin);
      const event = { command: "git log", decision: "allowed", runtime_name: name };
      await app.post("/api/v1/audit", { ...event, policy: version }, admin);
    });
    await Promise.all(each);
    app.advance(20 * 60_000);
  };
  await live();
  let isDone = false;
  const pushing = push("push", POLICY).finally(() => void (isDone = true));
  while (!isDone) await live();
  const last = (await pushing).at(-1);
  assert.deepEqual([last?.code, last?.error], [0, ""], last?.out);
  assert.match(last?.out ?? "", /^Rollout \S+ of \S+ instead of v1, begun by portal-api$/m);
  assert.match(last?.out ?? "", /^running, stage 1 of 3: /m);
  assert.match(last?.out ?? "", /^completed$/m);
  const [version] = await versions();
  assert.deepEqual([version.active, version.yaml], [true, POLICY]);
  const again = await push("push", POLICY);
  assert.match(again.at(-1)?.out ?? "", /is active with the same text\n$/);
});

test("a merge that would deny too much is not rolled out", async (t) => {
  const { app, admin, push, report, versions } = await setUp(t, true);
  await app.post("/api/v1/policies", { version: "v1", yaml: POLICY }, admin);
  const commands = Array.from({ length: 11 }, (_, i) => `git log -${i}`);
  await report(commands.map((command) => ({ command, decision: "allowed" })));
  const refused = (await push("push", POLICY.replaceAll("git log", "git show"))).at(-1);
  assert.equal(refused?.code, 1);
  assert.match(refused?.error ?? "", /rollout start: 11 events would be newly denied, expected/);
  assert.match(refused?.out ?? "", /^policy\.yaml: the default: 11 newly denied/m);
  assert.equal((await versions()).length, 1);
  assert.deepEqual((await app.get("/api/v1/rollouts", admin)).body, { rollouts: [] });
});
