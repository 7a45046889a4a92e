/** People and pipelines on a machine that has no policy yet, with the pipeline of docs/guard.md as it is printed. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { writePrograms } from "../support/programs.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";
import { GUARD, newMachine, send, type GuardMachine } from "./guard-process.ts";

interface Job {
  readonly env: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string; readonly if?: string }[];
}

const page = await readFile(new URL("../../docs/guard.md", import.meta.url), "utf8");
const [, yaml = ""] = /<!-- pipeline -->\n```yaml\n([^]*?)```/.exec(page) ?? [];
const [job] = Object.values((parse(yaml) as { readonly jobs: Record<string, Job> }).jobs);
const DENY = "schema: signalbox/policy/v1\ndefault: deny\nrules: []\n";

/** Runs the steps of the pipeline on a new runner; `url` is the address of the service. */
async function runJob(machine: GuardMachine, url: string, key: string) {
  assert.ok(job);
  const programs = join(machine.home, "bin");
  await mkdir(programs);
  await writePrograms(programs, {
    npm: "exit 0",
    npx: `shift 2; exec "${process.execPath}" "${GUARD}" "$@"`,
    terraform: "echo planned",
  });
  const values = new Map([
    ["secrets.SIGNALBOX_API_KEY", key],
    ["github.repository", "acme/network"],
  ]);
  const own = Object.entries(job.env).map(([name, value]) => {
    const filled = value.replaceAll(
      /\$\{\{ ([\w.]+) \}\}/g,
      (_, of: string) => values.get(of) ?? "",
    );
    return [name, filled.replace("https://signalbox.example.com", url)] as const;
  });
  const path = `${programs}:${machine.env["PATH"]}`;
  const env = { ...machine.env, CI: "true", ...Object.fromEntries(own), PATH: path };
  const ran: { command: string; code: number | null; out: string; error: string }[] = [];
  for (const { run: command, if: condition } of job.steps) {
    const hasFailed = ran.some(({ code }) => code !== 0);
    if (command === undefined || (hasFailed && condition !== "always()")) continue;
    const ended = await new Promise<(typeof ran)[number]>((resolve) => {
      const options = { cwd: machine.home, env };
      const child = execFile("sh", ["-e", "-c", command], options, (_, out, error) =>
        resolve({ command, code: child.exitCode, out, error }),
      );
    });
    ran.push(ended);
  }
  return ran;
}

test("exec says that it runs a command which it could not decide, and the way out", async (t) => {
  const app = await start(t);
  await app.post("/api/public/policies", { version: "v1", yaml: DENY });
  const machine = await newMachine(t, {
    RUNTIME_PORTAL_BASE_URL: app.url,
    RUNTIME_PORTAL_ENABLED: "false",
  });
  const ran = await machine.run(["exec", "--", "echo", "ran"]);
  const why = "not decided, but run: no policy has been fetched yet: run signalbox guard sync";
  assert.deepEqual(ran, {
    ...{ code: 0, out: "ran\n" },
    error: `signalbox guard: ${why}; GUARD_FAIL=closed denies such commands\n`,
  });
  machine.env["GUARD_MODE"] = "observe"; // which runs every command
  assert.equal((await machine.run(["exec", "--", "true"])).error, `signalbox guard: ${why}\n`);
  delete machine.env["GUARD_MODE"];
  machine.env["GUARD_FAIL"] = "closed";
  const denied = await machine.run(["exec", "--", "echo", "ran"]);
  assert.deepEqual([denied.code, denied.out], [126, ""]);
  assert.match(denied.error, /denied: not decided: no policy has been fetched yet: run signalbox/);
  await send(machine);
  machine.env["GUARD_FAIL"] = "open";
  assert.equal((await machine.run(["exec", "--", "echo", "ran"])).code, 126);
});

test("the pipeline of docs/guard.md decides its first command, and sends the events", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const asked = { name: "pipeline", scopes: "report" };
  const { api_key: key } = (await app.post("/api/v1/api-keys", asked, admin)).body;
  await app.post("/api/v1/policies", { version: "v1", yaml: DENY }, admin);
  const denied = await runJob(await newMachine(t), app.url, key);
  assert.deepEqual(
    denied.map(({ code }) => code),
    [0, 0, 126, 0],
  );
  const { events } = (await app.get("/api/v1/audit?runtime=acme/network", admin)).body;
  assert.deepEqual(
    events.map((event: Record<string, unknown>) => [event["command"], event["policy_decision"]]),
    [["terraform plan", "DENIED"]],
  );
  const { url } = app;
  await app.close();
  const away = await runJob(await newMachine(t), url, key);
  assert.deepEqual(
    away.map(({ command, code }) => [command, code]),
    [
      ["npm ci", 0],
      ["npx signalbox guard sync", 1],
      ["npx signalbox guard sync", 1],
    ],
  );
  assert.match(away.at(-1)?.error ?? "", /cannot be reached: ECONNREFUSED/);
});
