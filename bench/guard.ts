/**
 * Measures the guard: how much longer a hook takes than an empty Node process, how long it takes to send
 * a full spool, and how long the longest shell texts take to split.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { splitCommand } from "../src/policies/shell/command-parts.ts";
import { StepBudget } from "../src/policies/step-budget.ts";
import { startService } from "./contestants.ts";
import { table } from "./report.ts";
import { median } from "./statistics.ts";

const GUARD = fileURLToPath(new URL("../dist/guard/main.cjs", import.meta.url));
const PROCESSES = 30;
const EVENTS = 10_000;
const TEXT_BYTES = 1 << 20;
const SPLITS = 7;
const FLUSHES = 3;

const YAML = `schema: signalbox/policy/v1
default: allow
rules:
  - { id: no-push, effect: deny, match: { commands: [{ prefix: git push }] } }
`;
const PAYLOAD = JSON.stringify({
  session_id: "0b5f7c1e-8a55-4ef0-9f7b-1a2b3c4d5e6f",
  cwd: "/home/ada/x",
  permission_mode: "default",
  hook_event_name: "PreToolUse",
  tool_name: "Bash",
  tool_input: { command: "cd web && npm run build | tee build.log" },
});

/** Long shell texts of different kinds; each part is repeated up to 1 MiB. */
const TEXTS: readonly (readonly [string, string])[] = [
  ["commands in a row", "git status; "],
  ["one long word", "x"],
  ["quotes and variables", `echo "a $HOME \${x:-y}" 'b' \\c; `],
  ["substitutions", "echo $(git log | head -n 3) `date`; "],
  ["wrappers", "sudo env A=1 timeout 5 bash -c 'git status' && "],
  ["a here document", "cat <<END\nsome text\nEND\n"],
];

/** Measures and prints a table; false if a limit is not kept. */
export async function measureGuard(directory: string): Promise<boolean> {
  const home = join(directory, "guard");
  mkdirSync(home, { mode: 0o700 });
  const server = await startService({ directory: home, history: undefined }, {});
  try {
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      GUARD_DIR: join(home, "state"),
      RUNTIME_PORTAL_BASE_URL: server.url,
    };
    await fetch(`${server.url}/api/public/policies`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ version: "v1", yaml: YAML }),
    });
    run([GUARD, "sync"], env);
    const rows = [processRow(env), await flushRow(env, server.url), ...TEXTS.map(splitRow)];
    const columns = ["What", "Median", "At most", ""];
    const cells = rows.map(({ what, ms, most }) => [
      what,
      `${ms.toFixed(1)} ms`,
      `${most} ms`,
      ms <= most ? "met" : "**missed**",
    ]);
    console.log(`\n### The guard\n\n${table(columns, cells)}\n`);
    return rows.every(({ ms, most }) => ms <= most);
  } finally {
    await server.stop();
  }
}

interface Row {
  readonly what: string;
  readonly ms: number;
  readonly most: number;
}

/** Starts empty processes and hooks in turn; the first of each is not counted. */
function processRow(env: NodeJS.ProcessEnv): Row {
  const silent = { ...env, RUNTIME_PORTAL_ENABLED: "false" };
  const [empty, hooks]: [number[], number[]] = [[], []];
  for (let at = -1; at < PROCESSES; at++) {
    const emptyMs = run(["-e", "0"], silent);
    const hookMs = run([GUARD, "hook", "claude-code"], silent, PAYLOAD);
    if (at < 0) continue;
    empty.push(emptyMs);
    hooks.push(hookMs);
  }
  const what = `a hook from start to answer, beyond \`node -e 0\` (${median(empty).toFixed(1)} ms)`;
  return { what, ms: median(hooks) - median(empty), most: 25 };
}

async function flushRow(env: NodeJS.ProcessEnv, url: string): Promise<Row> {
  const spool = join(env["GUARD_DIR"] ?? "", "spool.jsonl");
  const times: number[] = [];
  for (let flush = 0; flush < FLUSHES; flush++) {
    const events = Array.from({ length: EVENTS }, (_, at) => ({
      id: `claude-code:session-${flush}:toolu_${at}:before`,
      timestamp: new Date().toISOString(),
      command: `git status --short directory-${at}`,
      ...{ executor: "ada", consumer: "ai", policy_decision: "ALLOWED", policy: "v1" },
      ...{ runtime_name: `flush-${flush}`, transport: "claude-code", trace_id: "session" },
    }));
    writeFileSync(spool, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    times.push(run([GUARD, "sync"], env));
    const answer = await fetch(`${url}/api/public/audit?limit=1&runtime=flush-${flush}`);
    const { total } = (await answer.json()) as { readonly total: number };
    if (total !== EVENTS) throw new Error(`${total} of ${EVENTS} events arrived`);
  }
  return {
    what: `a spool of ${EVENTS} events, sent by one \`sync\``,
    ms: median(times),
    most: 2_000,
  };
}

function splitRow([what, part]: (typeof TEXTS)[number]): Row {
  const text = part.repeat(TEXT_BYTES / part.length);
  const times: number[] = [];
  for (let at = 0; at < SPLITS; at++) {
    const began = performance.now();
    splitCommand(text, { required() {}, suspected() {} }, new StepBudget(Infinity));
    times.push(performance.now() - began);
  }
  return { what: `splitting 1 MiB: ${what}`, ms: median(times), most: 50 };
}

/** Runs Node to its end; returns the milliseconds that it took. */
function run(args: readonly string[], env: NodeJS.ProcessEnv, input = ""): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, input, encoding: "utf8" });
  const ms = performance.now() - began;
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
  return ms;
}
