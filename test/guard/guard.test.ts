/** The guard against a real service, with the built program in processes of its own. */
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { directoryFault } from "../../src/guard/directory.ts";
import { HALF_SPOOL_BYTES, SPOOL_FILES } from "../../src/guard/spool.ts";
import { startCuttingProxy } from "../support/cutting-proxy.ts";
import { type Scope, start } from "../support/start.ts";
import { GUARD, newMachine, send, syncedMachine, type GuardMachine } from "./guard-process.ts";
import { RECORDED } from "./recorded-payloads.ts";

const POLICY = `schema: signalbox/policy/v1
default: allow
rules:
  - id: no-push
    effect: deny
    reason: A person pushes.
    match: { consumers: [ai], commands: [{ prefix: git push }] }
  - id: no-edits
    effect: deny
    match: { capabilities: ["claude-code/Edit"] }
`;

const app = await start({ after });
await app.post("/api/public/policies", { version: "v1", yaml: POLICY });

const synced = (t: Scope, more: Record<string, string> = {}) => syncedMachine(t, app.url, more);

const spooled = (machine: GuardMachine): readonly Record<string, unknown>[] =>
  readFileSync(join(machine.directory, "spool.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const [CLAUDE] = RECORDED;
assert.ok(CLAUDE);
const push = CLAUDE.payload;
const withCommand = (command: string) => ({ ...push, tool_input: { command } });

for (const { agent, source, payload, attempt } of RECORDED) {
  const isPush = attempt["command"] === "git push";
  if (attempt["kind"] !== "before") continue;
  test(`${agent} (${source}): ${JSON.stringify(attempt["command"] ?? attempt["capability"])}`, async (t) => {
    const machine = await synced(t);
    const { code, out, error } = await machine.hook(agent, payload);
    const isDenied = isPush || attempt["capability"] === "claude-code/Edit";
    if (!isDenied) return assert.deepEqual([code, out, error], [0, "", ""]);
    const sentence = `Denied by Signalbox: rule ${isPush ? "no-push: A person pushes." : "no-edits"}`;
    if (agent === "copilot") {
      const answer = { permissionDecision: "deny", permissionDecisionReason: sentence };
      return assert.deepEqual([code, JSON.parse(out), error], [0, answer, ""]);
    }
    assert.deepEqual([code, out, error], [2, "", `${sentence}\n`]);
  });
}

test("an event has all known fields, and is stored once even if it is reported repeatedly", async (t) => {
  const machine = await synced(t, { GUARD_NAME: "laptop-ada" });
  const secret = withCommand("ls; git push --password=hunter2");
  await machine.hook("claude-code", { ...secret, version: "2.1" });
  await machine.hook("claude-code", { ...secret, version: "2.1" });
  assert.ok(!readFileSync(join(machine.directory, "spool.jsonl"), "utf8").includes("hunter2"));
  await send(machine);
  assert.ok(!existsSync(join(machine.directory, "spool.jsonl")));
  const { body } = await app.get("/api/public/audit?runtime=laptop-ada");
  assert.equal(body.total, 1);
  const [event] = body.events;
  const expected = {
    id: `claude-code:${String(push["session_id"])}:toolu_01ABC:before`,
    command: "ls; git push --password=[redacted:named-value]",
    consumer: "ai",
    policy_decision: "DENIED",
    policy: "v1",
    reason: "rule no-push: A person pushes.",
    runtime_name: "laptop-ada",
    runtime_context: "claude-code 2.1",
    trace_id: push["session_id"],
    transport: "claude-code",
  };
  assert.deepEqual({ ...event, ...expected }, event);
  const { body: fleet } = await app.get("/api/public/fleet");
  const [runtime] = fleet.runtimes.filter(({ name }: { name: string }) => name === "laptop-ada");
  assert.equal(runtime.policy_version, "v1");
});

test("exec keeps streams and exit codes, reports decision and end, and denies with 126", async (t) => {
  const machine = await synced(t);
  const script = "read x; echo got $x; echo err >&2; exit 3";
  const ran = await machine.run(["exec", "--", "sh", "-c", script], "word\n");
  assert.deepEqual(ran, { code: 3, out: "got word\n", error: "err\n" });
  const denied = await machine.run(["exec", "--consumer", "ai", "--", "sh", "-c", "git push"]);
  assert.equal(denied.code, 126);
  assert.match(denied.error, /denied: rule no-push: A person pushes\./);
  assert.equal((await machine.run(["exec", "--", "sh", "-c", "kill -TERM $$"])).code, 143);
  assert.equal((await machine.run(["exec", "no-such-program"])).code, 127);
  assert.equal((await machine.run(["exec", "--", ""])).code, 126);
  assert.equal(spooled(machine).at(-1)?.["status"], "failed");
  const events = spooled(machine);
  assert.deepEqual(
    events.slice(0, 3).map((event) => [event["policy_decision"], event["status"]]),
    [
      ["ALLOWED", undefined],
      [undefined, "failed"],
      ["DENIED", undefined],
    ],
  );
  assert.equal(events[0]?.["trace_id"], events[1]?.["trace_id"]);
  assert.equal(typeof events[1]?.["duration_ms"], "number");
  machine.env["CI"] = "true";
  await machine.run(["exec", "true"]);
  assert.equal(spooled(machine).at(-1)?.["consumer"], "ci");
});

test("without the service the last policy decides, and events arrive when it is back", async (t) => {
  const service = await start(t);
  await service.post("/api/public/policies", { version: "v1", yaml: POLICY });
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: service.url });
  await machine.run(["sync"]);
  await service.close();
  machine.env["RUNTIME_PORTAL_ENABLED"] = "false";
  assert.equal((await machine.hook("claude-code", push)).code, 2);
  assert.equal((await machine.hook("claude-code", withCommand("ls"))).code, 0);
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  const failed = await machine.run(["sync"]);
  assert.equal(failed.code, 1);
  assert.match(
    failed.error,
    /^signalbox guard sync: \S+ cannot be reached: ECONNREFUSED: start it, or set RUNTIME_PORTAL_BASE_URL to its address\n$/,
  );
  await service.open();
  machine.env["RUNTIME_PORTAL_BASE_URL"] = service.url;
  assert.equal((await machine.run(["sync"])).code, 0);
  assert.equal((await service.get("/api/public/audit")).body.total, 1); // one use of a tool, one id
});

test("a proxy that closes connections at once is reported, and blocks no command", async (t) => {
  const proxy = await startCuttingProxy(t, 1); // no service listens there
  const url = `http://127.0.0.1:${proxy.port}`;
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: url });
  const { code, error } = await machine.run(["sync"]);
  assert.equal(code, 1);
  assert.match(error, /cannot be reached: ECONNRESET/);
  assert.match((await machine.run(["doctor"])).out, /bad .* cannot be reached: ECONNRESET/);
});

test("in observe mode everything runs, and events name what would have been denied", async (t) => {
  const machine = await synced(t, { GUARD_MODE: "observe" });
  assert.deepEqual((await machine.hook("claude-code", push)).code, 0);
  const [event] = spooled(machine);
  assert.deepEqual([event?.["policy_decision"], event?.["status"]], ["ALLOWED", "would-be-denied"]);
});

test("a policy that observes lets everything run, even where events cannot be kept", async (t) => {
  const service = await start(t);
  await service.post("/api/public/policies", { version: "v1", yaml: `${POLICY}\nmode: observe\n` });
  const settings = { RUNTIME_PORTAL_BASE_URL: service.url, GUARD_FAIL: "closed" };
  const machine = await synced(t, settings);
  assert.equal((await machine.hook("claude-code", push)).code, 0);
  assert.equal((await machine.hook("claude-code", withCommand("ls"))).code, 0);
  const decided = spooled(machine).map((event) => [
    event["policy_decision"],
    event["observed_decision"],
    event["status"],
  ]);
  assert.deepEqual(decided, [
    ["ALLOWED", "DENIED", "would-be-denied"],
    ["ALLOWED", "ALLOWED", undefined],
  ]);
  assert.match((await machine.run(["doctor"])).out, /policy v1, which only observes/);
  await send(machine);
  const listed = await service.get("/api/public/audit?observed=DENIED");
  assert.equal(listed.body.total, 1);
  await rm(join(machine.directory, "spool.jsonl"), { force: true });
  await mkdir(join(machine.directory, "spool.jsonl"));
  assert.equal((await machine.hook("claude-code", push)).code, 0);
});

const BAD_INPUT: readonly (readonly [string, string | Buffer | null, RegExp])[] = [
  ["a payload of another agent", JSON.stringify(RECORDED.at(-2)?.payload), /not a known event/],
  [
    "an unknown event",
    JSON.stringify({ ...push, hook_event_name: "PreEverything" }),
    /not a known/,
  ],
  ["broken JSON", '{"session_id": ', /not JSON/],
  ["a list", "[]", /not a known event/],
  ["a payload over 10 MiB", Buffer.alloc((10 << 20) + 1, 0x20), /over 10 MiB/],
  ["an empty payload", "", /there is no payload/],
  ["no standard input", null, /there is no payload/],
];

for (const [what, input, said] of BAD_INPUT) {
  test(`${what} is answered as GUARD_FAIL says, and reported`, async (t) => {
    const machine = await synced(t);
    assert.deepEqual(await machine.run(["hook", "claude-code"], input), {
      code: 0,
      out: "",
      error: "",
    });
    const [event] = spooled(machine);
    assert.match(String(event?.["reason"]), said);
    assert.deepEqual([event?.["status"], event?.["policy_decision"]], ["undecided", undefined]);
    machine.env["GUARD_FAIL"] = "closed";
    const closed = await machine.run(["hook", "claude-code"], input);
    assert.equal(closed.code, 2);
    assert.match(closed.error, said);
  });
}

test("a payload may begin with byte order marks, as those of Cursor on Windows", async (t) => {
  const machine = await synced(t);
  for (const marks of ["\uFEFF", "\uFEFF\uFEFF"]) {
    const denied = await machine.run(["hook", "claude-code"], marks + JSON.stringify(push));
    assert.equal(denied.code, 2);
  }
});

const BAD_POLICIES: readonly (readonly [string, string, RegExp])[] = [
  ["damaged", "{", /damaged/],
  ["of another form", '{"format":2}', /another version of the guard: run signalbox guard sync/],
  [
    "of another service",
    '{"format":1,"api":"http://x/api/v1"}',
    /another service or organization: run signalbox guard sync/,
  ],
];

for (const [what, text, said] of BAD_POLICIES) {
  test(`a policy file that is ${what} is not used`, async (t) => {
    const machine = await synced(t);
    writeFileSync(join(machine.directory, "policy.json"), text);
    assert.equal((await machine.hook("claude-code", push)).code, 0);
    assert.match(String(spooled(machine)[0]?.["reason"]), said);
    machine.env["GUARD_FAIL"] = "closed";
    assert.equal((await machine.hook("claude-code", push)).code, 2);
    await send(machine); // and the next synchronisation mends it
    machine.env["GUARD_FAIL"] = "open";
    assert.equal((await machine.hook("claude-code", push)).code, 2);
  });
}

test("a directory, a policy or settings that others can write are refused", async (t) => {
  const machine = await synced(t, { GUARD_FAIL: "closed" });
  chmodSync(join(machine.directory, "policy.json"), 0o666);
  const writable = await machine.hook("claude-code", withCommand("ls"));
  assert.equal(writable.code, 2);
  assert.match(writable.error, /can be written by other users/);
  chmodSync(join(machine.directory, "policy.json"), 0o600);
  const settings = join(machine.directory, "settings.json");
  writeFileSync(settings, '{"GUARD_MODE":"observe"}');
  chmodSync(settings, 0o622);
  const observed = await machine.hook("claude-code", push);
  assert.deepEqual(
    [observed.code, /settings\.json: .* can be written/.test(observed.error)],
    [2, true],
  );
  await rm(settings);
  chmodSync(machine.directory, 0o777);
  const open = await machine.hook("claude-code", withCommand("ls"));
  assert.equal(open.code, 2);
  assert.match(open.error, /GUARD_DIR: .* can be written by other users/);
  assert.equal((await machine.run(["sync"])).code, 1);
  chmodSync(machine.directory, 0o700);
  symlinkSync(machine.directory, join(machine.home, "link"));
  machine.env["GUARD_DIR"] = join(machine.home, "link");
  assert.match((await machine.hook("claude-code", withCommand("ls"))).error, /not a directory/);
});

test("a spool that cannot be written denies only if GUARD_FAIL is closed", async (t) => {
  const machine = await synced(t);
  await mkdir(join(machine.directory, "spool.jsonl"));
  const open = await machine.hook("claude-code", withCommand("ls"));
  assert.equal(open.code, 0);
  assert.match(open.error, /the event cannot be kept/);
  machine.env["GUARD_FAIL"] = "closed";
  assert.equal((await machine.hook("claude-code", withCommand("ls"))).code, 2);
});

test("of a damaged spool only the damaged lines are lost, and their number is reported", async (t) => {
  const machine = await synced(t, { GUARD_NAME: "torn" });
  const deep = `{"id":"b","command":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  writeFileSync(join(machine.directory, "spool.jsonl"), `${deep}\n{"id":"a","comm`);
  await machine.hook("claude-code", { ...withCommand("ls"), tool_use_id: "torn" });
  await send(machine);
  await send(machine);
  const { body } = await app.get("/api/public/audit?runtime=torn");
  const said = body.events.map(
    ({ command, message }: Record<string, string>) => command ?? message,
  );
  assert.deepEqual(said.sort(), [
    "2 events could not be sent: damaged, or refused by the service",
    "ls",
  ]);
});

test("an event that the service refuses does not keep the others back", async (t) => {
  const machine = await synced(t, { GUARD_NAME: "poison" });
  const bad = { id: "bad one", command: "x" };
  writeFileSync(join(machine.directory, "spool.jsonl"), `${JSON.stringify(bad)}\n`);
  for (const command of ["a", "b", "c"]) {
    await machine.hook("claude-code", { ...withCommand(command), tool_use_id: command });
  }
  await send(machine);
  const { body } = await app.get("/api/public/audit?runtime=poison&decision=ALLOWED");
  assert.equal(body.total, 3);
});

test("parallel hooks and synchronisations neither lose nor repeat an event", async (t) => {
  const machine = await synced(t, { GUARD_NAME: "parallel" });
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  const calls = Array.from({ length: 12 }, (_, at) => `call-${at}`);
  await Promise.all(
    calls.flatMap((call) => [
      machine.hook("claude-code", { ...withCommand("ls"), tool_use_id: call }),
      machine.run(["sync", "--quiet"]),
    ]),
  );
  await machine.run(["sync"]);
  const { body } = await app.get("/api/public/audit?runtime=parallel&limit=100");
  assert.equal(body.total, calls.length);
});

test("a spool over 64 MiB drops its oldest events, reports their number, and sends the others once", async (t) => {
  const machine = await synced(t, { GUARD_NAME: "full" });
  const linesOf = (kind: string) => {
    const message = "x".repeat(900 << 10);
    const count = Math.ceil(HALF_SPOOL_BYTES / message.length);
    const events = Array.from({ length: count }, (_, at) => ({ id: `${kind}-${at}`, message }));
    return events.map((event) => JSON.stringify({ ...event, runtime_name: "full" })).join("\n");
  };
  const [, older, current] = SPOOL_FILES;
  writeFileSync(join(machine.directory, older), `${linesOf("old")}\n`);
  writeFileSync(join(machine.directory, current), `${linesOf("new")}\n`);
  const payload = { ...withCommand("ls"), tool_use_id: "full" };
  assert.equal((await machine.hook("claude-code", payload)).code, 0);
  await send(machine);
  const { text } = await app.get("/api/public/audit/export?format=ndjson&runtime=full");
  const events = text.split("\n").filter((line) => line !== "");
  const said = events.map((line) => {
    const { id, command, message = "" } = JSON.parse(line) as Record<string, string>;
    return command ?? (/^x+$/.test(message) ? id?.replace(/\d+/, "N") : message);
  });
  const newOnes = linesOf("new").split("\n").length;
  assert.deepEqual(said.toSorted(), [
    `The spool was full: the ${newOnes} oldest events were dropped`,
    "ls",
    ...Array.from({ length: newOnes }, () => "new-N"),
  ]);
});

test("guards of different versions share a directory: all events arrive, once", async (t) => {
  const machine = await synced(t, { GUARD_NAME: "shared" });
  const other = await newMachine(t);
  const built = fileURLToPath(new URL("../../", import.meta.url));
  await cp(join(built, "dist/guard"), join(other.home, "dist/guard"), { recursive: true });
  symlinkSync(join(built, "node_modules"), join(other.home, "node_modules"));
  const pack = { type: "module", version: "9.9.9" };
  writeFileSync(join(other.home, "package.json"), JSON.stringify(pack));
  Object.assign(other.env, machine.env);
  other.program = join(other.home, "dist/guard/main.cjs");
  const both = [machine, other];
  for (const one of both) one.env["RUNTIME_PORTAL_ENABLED"] = "true";
  await Promise.all(
    Array.from({ length: 12 }, (_, at) => {
      const one = both[at % 2] ?? machine;
      const payload = { ...withCommand(at < 6 ? "ls" : "git push"), tool_use_id: `shared-${at}` };
      return Promise.all([one.hook("claude-code", payload), one.run(["sync"])]);
    }),
  );
  await machine.run(["sync"]);
  const { events } = (await app.get("/api/public/audit?runtime=shared")).body;
  const counts = new Map<string, number>();
  for (const { runtime_version: version, policy_decision: decision } of events) {
    const key = `${version === "guard 9.9.9" ? "other" : "own"} ${decision}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  assert.deepEqual(Object.fromEntries(counts), {
    "own ALLOWED": 3,
    "own DENIED": 3,
    "other ALLOWED": 3,
    "other DENIED": 3,
  });
});

test("a clock that jumps stops no synchronisation", async (t) => {
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: app.url });
  machine.env["RUNTIME_PORTAL_ENABLED"] = "false";
  await machine.hook("claude-code", withCommand("ls")); // makes the directory
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  writeFileSync(join(machine.directory, "last-sync"), "");
  utimesSync(join(machine.directory, "last-sync"), 4e9, 4e9);
  writeFileSync(join(machine.directory, "sync.lock"), "1");
  utimesSync(join(machine.directory, "sync.lock"), 4e9, 4e9); // a lock from the future does not count
  assert.equal((await machine.run(["sync"])).code, 0);
  assert.ok(existsSync(join(machine.directory, "policy.json")));
});

test("setup writes the hooks, saves the settings and fetches the policy; doctor finds all well", async (t) => {
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: app.url });
  assert.equal((await machine.run(["doctor"])).code, 1);
  for (const agent of ["claude-code", "codex", "gemini-cli", "cursor", "copilot"]) {
    assert.equal((await machine.run(["setup", agent, "--project"])).code, 0);
  }
  delete machine.env["RUNTIME_PORTAL_BASE_URL"]; // it is saved
  const { code, out } = await machine.run(["doctor"]);
  assert.equal(code, 0, out);
  for (const agent of ["claude-code", "codex", "gemini-cli", "cursor", "copilot"]) {
    assert.match(out, new RegExp(`ok +${agent}: hook in .* answers`));
  }
  assert.equal((await machine.hook("claude-code", push)).code, 2);
  assert.equal((await machine.run(["setup", "cursor", "--remove"])).code, 0);
  assert.ok(!existsSync(join(machine.home, ".cursor/hooks.json")));
  writeFileSync(join(machine.home, ".claude/settings.json"), "// a comment\n{}");
  const refused = await machine.run(["setup", "claude-code"]);
  assert.deepEqual([refused.code, /is not plain JSON/.test(refused.error)], [1, true]);
});

for (const [args, said] of [
  [["frobnicate"], /no command "frobnicate"/],
  [["setup", "emacs"], /expected one agent of/],
  [["hook", "emacs"], /"emacs" is not an agent/],
  [["hook"], /"" is not an agent/],
  [["exec"], /expected a command/],
  [["exec", "--consumer", "cat", "ls"], /expected human, ai or ci/],
  [["sync", "--every", "soon"], /expected a time such as 30s or 5m/],
  [["sync", "--evry", "5m"], /Unknown option '--evry'/],
  [["sync", "5m"], /Unexpected argument '5m'/],
  [["doctor", "cursor"], /Unexpected argument 'cursor'/],
] as const) {
  test(`guard ${args.join(" ")} says what was expected`, async (t) => {
    const machine = await newMachine(t, { RUNTIME_PORTAL_ENABLED: "false" });
    const { code, error } = await machine.run(args);
    assert.notEqual(code, 0);
    assert.match(error, said);
  });
}

test("a setting that is not understood is named, and does not switch the guard off", async (t) => {
  const machine = await synced(t);
  machine.env["GUARD_LABELS"] = "env";
  machine.env["GUARD_MODE"] = "observed";
  machine.env["GUARD_FAIL"] = "ajar";
  const denied = await machine.hook("claude-code", push);
  assert.equal(denied.code, 2);
  assert.match(denied.error, /GUARD_MODE: was "observed", expected enforce or observe/);
  assert.match(denied.error, /GUARD_FAIL: was "ajar", expected open or closed/);
  assert.equal((await machine.hook("claude-code", withCommand("ls"))).code, 0);
  await rm(join(machine.directory, "policy.json"));
  assert.equal((await machine.hook("claude-code", withCommand("ls"))).code, 2); // the stricter choice
  machine.env["RUNTIME_PORTAL_ENABLED"] = "FALSE"; // last, since hooks then synchronise
  const { code, out } = await machine.run(["doctor"]);
  assert.equal(code, 1);
  for (const name of ["GUARD_LABELS", "GUARD_MODE", "GUARD_FAIL", "RUNTIME_PORTAL_ENABLED"])
    assert.match(out, new RegExp(`bad +${name}`));
  const setup = await machine.run(["setup", "claude-code"]);
  assert.deepEqual([setup.code, /GUARD_FAIL: was "ajar"/.test(setup.error)], [1, true]);
});

test("saved settings that cannot be read are named, and commands that cannot be decided are denied", async (t) => {
  const machine = await newMachine(t, { RUNTIME_PORTAL_ENABLED: "false" });
  await mkdir(machine.directory, { mode: 0o700 });
  writeFileSync(join(machine.directory, "settings.json"), '{"GUARD_FAIL":"clo');
  const { code, error } = await machine.hook("claude-code", withCommand("ls"));
  assert.equal(code, 2);
  assert.match(error, /settings\.json: cannot be read/);
});

test("a user without a home directory is told to set GUARD_DIR", () => {
  assert.match(directoryFault("") ?? "", /^GUARD_DIR: expected a directory/);
});

test("setup keeps the mode of a settings file, and the link to it", async (t) => {
  const machine = await newMachine(t, { RUNTIME_PORTAL_ENABLED: "false" });
  const real = join(machine.home, "dotfiles.json");
  writeFileSync(real, `{ "env": { "API_KEY": "abc" } }`, { mode: 0o600 });
  await mkdir(join(machine.home, ".claude"));
  symlinkSync(real, join(machine.home, ".claude/settings.json"));
  assert.equal((await machine.run(["setup", "claude-code", "--user"])).code, 0);
  assert.ok(lstatSync(join(machine.home, ".claude/settings.json")).isSymbolicLink());
  assert.match(readFileSync(real, "utf8"), /API_KEY[^]*hook claude-code/);
  assert.equal(statSync(real).mode & 0o777, 0o600);
});

test("with GUARD_FAIL=closed, setup has agents refuse tools if the hook itself fails", async (t) => {
  const machine = await newMachine(t, { RUNTIME_PORTAL_ENABLED: "false" });
  const shown = async (agent: string) => (await machine.run(["setup", agent, "--print"])).out;
  assert.doesNotMatch(
    (await shown("claude-code")) + (await shown("cursor")),
    /onFailure|failClosed/,
  );
  machine.env["GUARD_FAIL"] = "closed";
  const { hooks } = JSON.parse(await shown("claude-code")) as {
    hooks: Record<string, { hooks: Record<string, unknown>[] }[]>;
  };
  assert.equal(hooks["PreToolUse"]?.[0]?.hooks[0]?.["onFailure"], "block");
  assert.equal(hooks["PostToolUse"]?.[0]?.hooks[0]?.["onFailure"], undefined);
  assert.equal((await shown("cursor")).split("failClosed").length, 3); // both events before a tool
});

test("with GUARD_FAIL=closed, Cursor is told that a command may run: it would take silence for a failure", async (t) => {
  const machine = await synced(t);
  const payload = {
    hook_event_name: "beforeShellExecution",
    conversation_id: "c",
    command: "ls",
  };
  assert.equal((await machine.hook("cursor", payload)).out, "");
  machine.env["GUARD_FAIL"] = "closed";
  const allowed = await machine.hook("cursor", payload);
  assert.deepEqual([allowed.code, allowed.out], [0, '{"permission":"allow"}\n']);
  const denied = await machine.hook("cursor", { ...payload, command: "git push" });
  assert.deepEqual([denied.code, denied.out], [2, ""]);
  assert.equal((await machine.hook("claude-code", withCommand("ls"))).out, "");
});

test("the program of hooks has only ASCII characters, which halves the time to compile it", () => {
  assert.doesNotMatch(readFileSync(GUARD, "latin1"), /[^\0-\x7f]/);
});

test("doctor does not run a program that a project names as the hook", async (t) => {
  const machine = await newMachine(t, { RUNTIME_PORTAL_ENABLED: "false" });
  await mkdir(join(machine.home, ".claude"));
  const command = `touch ran; echo \u001b]0;x signalbox guard hook claude-code`;
  const hooks = { PreToolUse: [{ hooks: [{ type: "command", command }] }] };
  writeFileSync(join(machine.home, ".claude/settings.json"), JSON.stringify({ hooks }));
  const { code, out } = await machine.run(["doctor"]);
  assert.equal(code, 1);
  assert.match(out, /bad +claude-code: hook in .* does not start this guard, but touch ran/);
  assert.ok(!out.includes("\u001b"));
  assert.ok(!existsSync(join(machine.home, "ran")));
});

test("doctor finds a spool that cannot be written", async (t) => {
  const machine = await synced(t);
  await mkdir(join(machine.directory, "spool.jsonl"));
  const { code, out } = await machine.run(["doctor"]);
  assert.equal(code, 1);
  assert.match(out, /bad +spool: events cannot be kept \(EISDIR\)/);
});

test("a machine gets the version of a rollout by its labels, and by its name", async (t) => {
  const yaml = "schema: signalbox/policy/v1\nrules: []\ndefault: deny\n";
  await app.post("/api/public/policies", { version: "candidate", yaml, activate: false });
  const labels = { GUARD_LABELS: "env=staging, team=payments" };
  const staging = await synced(t, { GUARD_NAME: "büro-1", ...labels });
  const stages = [{ labels: { env: "staging" } }, { names: ["büro-2"] }];
  const { body } = await app.post("/api/public/rollouts", { version: "candidate", stages });
  await app.post(`/api/public/rollouts/${body.id}/advance`, {});
  t.after(async () => void (await app.post(`/api/public/rollouts/${body.id}/roll_back`, {})));
  await send(staging);
  await synced(t, { GUARD_NAME: "büro-2" });
  await synced(t, { GUARD_NAME: "büro-3" });
  const { runtimes } = (await app.get("/api/public/fleet?q=b%C3%BCro&sort=name&limit=9")).body;
  assert.deepEqual(
    runtimes.map((one: Record<string, unknown>) => [one["policy_version"], one["labels"]]),
    [
      ["candidate", { env: "staging", team: "payments" }],
      ["candidate", undefined],
      ["v1", undefined],
    ],
  );
});

test("a denial without a rule says what keeps the text from being split, if anything does", async (t) => {
  const service = await start(t);
  const yaml =
    "schema: signalbox/policy/v1\ndefault: deny\nrules:\n  - id: ls\n    effect: allow\n    match: { commands: [{ prefix: ls }] }\n";
  assert.equal((await service.post("/api/public/policies", { version: "v1", yaml })).status, 201);
  const machine = await synced(t, { RUNTIME_PORTAL_BASE_URL: service.url });
  const run = (script: string) => machine.run(["exec", "--", "bash", "-c", script]);
  assert.equal((await run("ls / | ls > /dev/null")).code, 0);
  const unknown = await run("ls; true");
  assert.equal(unknown.code, 126);
  assert.match(unknown.error, /denied: no rule of the policy allows this use of true$/m);
  const unsplit = await run("x=(a b); ls");
  assert.equal(unsplit.code, 126);
  assert.match(unsplit.error, /texts that can be split, and this one cannot because of an array$/m);
});

test("labels that are not understood fail a synchronisation, and are named", async (t) => {
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: app.url, GUARD_LABELS: "env" });
  const { code, error } = await machine.run(["sync"]);
  assert.equal(code, 1);
  assert.match(error, /GUARD_LABELS\.env: expected 1 to 64 characters/);
});
