/**
 * A day with real parts: a server and the guards of two machines in processes of their own. Agents, people and a
 * pipeline work on both; the policy changes, the server is killed and so are guards. At the end, what the guards
 * answered is compared with what arrived.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { SPOOL_FILES } from "../../src/guard/spool.ts";
import { Client } from "../support/client.ts";
import { startCuttingProxy } from "../support/cutting-proxy.ts";
import { randomFrom } from "../support/kill-ledger.ts";
import { launch, newDirectory } from "../support/server-process.ts";
import { ADMIN } from "../support/start.ts";
import { type Ended, type GuardMachine, newMachine } from "./guard-process.ts";
import { RECORDED } from "./recorded-payloads.ts";

const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
/** A guard takes about this long. */
const LONGEST_LIFE_MS = 120;
/** Far more synchronisations than any spool needs. */
const NEVER = 500;

const RULE = "effect: deny, match: { commands: [{ prefix:";
const V1 = `schema: signalbox/policy/v1
default: allow
rules:
  - { id: no-push, ${RULE} git push }] } }
`;
const V2 = `${V1}  - { id: no-listing, ${RULE} Get-ChildItem }] } }
  - { id: no-false, ${RULE} "false" }] } }
  - { id: no-edits, effect: deny, match: { capabilities: [claude-code/Edit] } }
`;

type Event = Readonly<Record<string, string>>;
type Decision = "ALLOWED" | "DENIED" | undefined;

/** The answers of the guards by attempt, with the policy that decided; `undefined` for a guard that was killed. */
type Ledger = Map<string, { readonly decision: Decision; readonly policy: string } | undefined>;

/** One use of a tool, or a command; its `token` is in the event. */
interface Try {
  readonly token: string;
  readonly kind: "before" | "after" | "both";
  readonly isCommand: boolean;
  readonly args: readonly string[];
  readonly input?: string;
}

/** The recorded payloads with commands or files of their own, and what people and a pipeline run. */
function triesOf(phase: string): readonly Try[] {
  const hooks = RECORDED.flatMap(({ agent, payload, attempt }, at): Try[] => {
    const { command, resource, kind } = attempt as Readonly<Record<string, string>>;
    const text = command ?? resource;
    if (text === undefined || (kind !== "before" && kind !== "after")) return [];
    const token = `${phase}-${at}`;
    const own = { ...payload, ...("tool_use_id" in payload && { tool_use_id: token }) };
    const input = JSON.stringify(own).replace(
      new RegExp(`(\\\\?")${text}\\1`),
      `$1${text} ${token}$1`,
    );
    assert.ok(input.includes(` ${token}`), input);
    return [{ token, kind, isCommand: command !== undefined, args: ["hook", agent], input }];
  });
  const commands = (["human", "ci"] as const).flatMap((consumer) =>
    ["true", "false"].map((command): Try => {
      const token = `${phase}-${consumer}-${command}`;
      return {
        token,
        kind: "both",
        isCommand: true,
        args: ["exec", "--consumer", consumer, "--", command, token],
      };
    }),
  );
  return [...hooks, ...commands];
}

function decisionOf({ args, kind, isCommand }: Try, { code, out }: Ended): Decision {
  if (kind === "after") return undefined;
  const isDenied = code === (args[0] === "exec" ? 126 : 2) || out.includes('"deny"');
  if (isDenied) return "DENIED";
  return isCommand ? "ALLOWED" : undefined; // a tool that no rule is about is only reported
}

function record(ledger: Ledger, one: Try, ended: Ended | undefined, policy: string): void {
  const decision = ended && decisionOf(one, ended);
  if (one.kind !== "after") ledger.set(`${one.token} before`, ended && { decision, policy });
  const hasRun = ended === undefined || decision !== "DENIED";
  if (one.kind === "after" || (one.kind === "both" && hasRun)) {
    ledger.set(`${one.token} after`, ended && { decision: undefined, policy: "" });
  }
}

/** Agents, people and a pipeline work for a while. */
async function work(machine: GuardMachine, phase: string, policy: string, ledger: Ledger) {
  for (const one of triesOf(`${phase}-${machine.env["GUARD_NAME"]}`)) {
    record(ledger, one, await machine.run(one.args, one.input), policy);
  }
}

/** Like the function above, but guards are killed at any moment. A killed guard has not answered. */
async function workWithKills(
  machine: GuardMachine,
  phase: string,
  ledger: Ledger,
  random: () => number,
) {
  const tries = triesOf(`${phase}-${machine.env["GUARD_NAME"]}`);
  for (const one of tries) record(ledger, one, undefined, "");
  const runs = [...tries, ...tries.map((): Pick<Try, "args" | "input"> => ({ args: ["sync"] }))];
  for (let at = 0; at < runs.length; at += 4) {
    await Promise.all(
      runs.slice(at, at + 4).map(async ({ args, input }) => {
        const { ended, kill } = machine.launch(args, input);
        await Promise.race([ended, wait(random() * LONGEST_LIFE_MS)]);
        kill();
        await ended;
      }),
    );
  }
}

/** Synchronises until something holds; another process may be doing the same meanwhile. */
async function syncUntil(machine: GuardMachine, holds: () => boolean): Promise<void> {
  for (let times = 0; times < NEVER; times++) {
    const { error } = await machine.run(["sync"]);
    if (holds()) return;
    assert.ok(times < NEVER - 1, error);
  }
}

const policyOf = ({ directory }: GuardMachine): unknown =>
  (JSON.parse(readFileSync(join(directory, "policy.json"), "utf8")) as { version: unknown })
    .version;

const isSent = ({ directory }: GuardMachine): boolean =>
  !SPOOL_FILES.some((name) => existsSync(join(directory, name)));

test(`a whole day: every decision is stored exactly once (seed ${SEED})`, async (t) => {
  const random = randomFrom(SEED);
  const settings = {
    DATA_DIR: await newDirectory(t),
    REQUIRE_AUTH: "true",
    JWT_SECRET: "a secret of the whole day",
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  };
  const portOf = async (server: ReturnType<typeof launch>) =>
    Number(new URL(await server.url()).port);
  const first = launch(t, settings);
  const proxy = await startCuttingProxy(t, await portOf(first));
  const url = `http://127.0.0.1:${proxy.port}`;
  const client = new Client();
  t.after(() => client.close());
  let admin: Record<string, string> = {};
  const post = async (path: string, body: object) => {
    const answer = await client.request(url, "POST", `/api/v1${path}`, body, admin);
    assert.ok(answer.status < 300, answer.text);
    return answer.body as Readonly<Record<string, string>>;
  };
  admin = { authorization: `Bearer ${(await post("/auth/login", ADMIN))["token"]}` };

  await post("/policies", { version: "v1", yaml: V1 });
  const machines: GuardMachine[] = [];
  for (const name of ["laptop", "build"]) {
    const { api_key: key = "" } = await post("/api-keys", { name, scopes: "report" });
    const machine = await newMachine(t, {
      GUARD_NAME: name,
      RUNTIME_PORTAL_BASE_URL: url,
      RUNTIME_PORTAL_PATH_PREFIX: "/api/v1",
      SIGNALBOX_API_KEY: key,
    });
    assert.equal((await machine.run(["setup", "claude-code"])).code, 0);
    machines.push(machine);
  }
  const onBoth = (run: (machine: GuardMachine) => Promise<void>) => Promise.all(machines.map(run));
  const ledger: Ledger = new Map();

  await onBoth((machine) => work(machine, "morning", "v1", ledger));
  await post("/policies", { version: "v2", yaml: V2 });
  await onBoth((machine) => syncUntil(machine, () => policyOf(machine) === "v2"));
  proxy.cutAt('"events"', "after"); // the batch is stored, and its answer lost
  await onBoth((machine) => work(machine, "noon", "v2", ledger));

  first.kill("SIGKILL");
  await first.exit();
  await onBoth((machine) => work(machine, "away", "v2", ledger));
  await onBoth((machine) => workWithKills(machine, "away-killed", ledger, random));
  const second = launch(t, settings);
  proxy.leadTo(await portOf(second));
  await onBoth((machine) => workWithKills(machine, "back-killed", ledger, random));
  await onBoth((machine) => work(machine, "evening", "v2", ledger));
  await onBoth((machine) => syncUntil(machine, () => isSent(machine)));

  const { text } = await client.request(
    url,
    "GET",
    "/api/v1/audit/export?format=ndjson",
    undefined,
    admin,
  );
  const arrived = new Map<string, Event[]>();
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const event = JSON.parse(line) as Event;
    const [token = ""] = /\S+$/.exec(event["command"] ?? event["resource"] ?? "") ?? [];
    const hasRun = ["succeeded", "failed"].includes(event["status"] ?? "");
    const key = `${token} ${hasRun ? "after" : "before"}`;
    arrived.set(key, [...(arrived.get(key) ?? []), event]);
  }
  for (const [key, expected] of ledger) {
    const events = arrived.get(key) ?? [];
    arrived.delete(key);
    if (!expected) {
      assert.ok(events.length <= 1, `${key}: ${events.length} events`);
      continue;
    }
    const { decision, policy } = expected;
    const [event] = events;
    assert.equal(events.length, 1, `${key}: ${events.length} events`);
    assert.equal(event?.["policy_decision"], decision, key);
    assert.equal(event?.["policy"], policy || undefined, key);
  }
  assert.deepEqual([...arrived.keys()], []);
  const answered = [...ledger.values()].filter((one) => one?.decision !== undefined);
  for (const [policy, denied] of [
    ["v1", 5],
    ["v2", 9],
  ] as const) {
    const isDenied = ({ decision }: { decision: Decision }) => decision === "DENIED";
    const own = answered.filter((one) => one?.policy === policy);
    const rounds = policy === "v1" ? 2 : 6; // of both machines
    assert.equal(own.filter((one) => one && isDenied(one)).length, denied * rounds);
  }
  const fleet = await client.request(url, "GET", "/api/v1/fleet", undefined, admin);
  const { runtimes } = fleet.body as {
    readonly runtimes: readonly Readonly<Record<string, string>>[];
  };
  assert.deepEqual(runtimes.map(({ name, policy_version }) => [name, policy_version]).toSorted(), [
    ["build", "v2"],
    ["laptop", "v2"],
  ]);
});
