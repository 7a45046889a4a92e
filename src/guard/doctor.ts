import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MINUTE_MS } from "../core/clock.ts";
import { printable } from "../core/printable.ts";
import { AGENT_SETTINGS, type AgentSettings, hookCommand } from "./agent-settings.ts";
import { Guard, type Machine } from "./machine.ts";
import { readPolicy } from "./policy-file.ts";
import { openRegular } from "./regular-file.ts";
import { directoryPin, managedPins } from "./pins.ts";
import { Service, shownAddress, wayOutOf } from "./service.ts";
import type { Environment } from "./settings.ts";
import { commandLine, managedFile, readJson, settingsFiles } from "./setup.ts";
import { APPEND, SPOOL_FILES } from "./spool.ts";
import { beat, inUseWith, saysNoPolicy } from "./sync.ts";

const DEADLINE_MS = 10_000;
const EVENT_BYTES = 16 << 10;
const [, , CURRENT] = SPOOL_FILES;
/** A payload with the fields of every agent, so that each agent's reader accepts it. */
const TEST_PAYLOAD = {
  ...{ session_id: "doctor", conversation_id: "doctor", timestamp: 0, cwd: "/" },
  ...{
    tool_name: "signalbox-doctor",
    tool_input: {},
    toolName: "signalbox-doctor",
    toolArgs: "{}",
  },
  command: "true",
};
/** The settings in the command line of a hook. */
const PINS = / --env "(?:[^"\\]|\\.)*"/g;
/** The names of the guard's settings. */
const SETTING = /^(?:GUARD_|RUNTIME_PORTAL_|SIGNALBOX_API_KEY$)/;
/** No fault: people and pipelines use the guard without hooks. */
const NO_HOOKS =
  "no agent has hooks of the guard here, so it decides only for guard exec: signalbox guard setup AGENT adds them";
const EVENTS = new Map([
  ["claude-code", "PreToolUse"],
  ["codex", "PreToolUse"],
  ["gemini-cli", "BeforeTool"],
  ["cursor", "beforeShellExecution"],
]);

/** Prints what works and what does not; returns the exit code, 1 if something does not work. */
export async function doctor(machine: Machine): Promise<number> {
  let isWell = true;
  const say = (isRight: boolean, what: string): void => {
    isWell &&= isRight;
    machine.out(`${isRight ? "ok  " : "bad "} ${printable(what)}\n`);
  };
  const guard = new Guard(machine);
  const { settings } = guard;
  const { directory, api, observes, failsClosed } = settings;
  say(guard.fault === undefined, guard.fault ?? `GUARD_DIR: ${directory}`);
  for (const fault of settings.faults) say(false, fault);
  const mode = `mode ${observes ? "observe" : "enforce"}, fail ${failsClosed ? "closed" : "open"}`;
  say(true, `${settings.name}: guard ${machine.version}, ${mode}`);
  if (settings.isEnabled) say(...(await askService(guard)));
  else say(false, "RUNTIME_PORTAL_ENABLED is false: nothing is fetched or sent");
  if (guard.fault === undefined) {
    say(...policyState(directory, api, machine.now()));
    say(...spoolState(directory));
  }
  let hooks = 0;
  const usual = directoryPin(machine.env);
  for (const [agent, one] of AGENT_SETTINGS) {
    const files: [string, Environment][] = settingsFiles(one).map((path) => [path, usual]);
    const managed = guard.fault === undefined ? managedFile(directory, agent) : undefined;
    if (managed !== undefined) files.push([managed, managedPins(machine.env, settings)]);
    for (const [path, pins] of files) {
      const found = hookState(agent, path, machine, pins);
      if (!found) continue;
      hooks++;
      say(...found);
    }
  }
  if (hooks === 0) machine.out(`note ${NO_HOOKS}\n`);
  machine.out(`\nSupport:\n${[...AGENT_SETTINGS].map(supportLine).join("")}`);
  return isWell ? 0 : 1;
}

type Finding = readonly [boolean, string];

/** Fetches the policy and sends a heartbeat: a key may be accepted for the one and not for the other. */
async function askService(guard: Guard): Promise<Finding> {
  const { settings } = guard;
  const service = new Service(settings);
  try {
    const { status, text } = await service.get("/policies?active=true");
    const isEmpty = status === 404 && saysNoPolicy(text);
    const why = isEmpty ? ", no policy is active: publish one" : wayOutOf(status, settings);
    const found = `${shownAddress(settings.api)}: answers ${status}${why}`;
    if (status !== 200 || guard.fault !== undefined) return [status === 200, found];
    return [true, `${found}, and takes the ${await beat(guard, service)}`];
  } catch (error) {
    return [false, (error as Error).message];
  }
}

function policyState(directory: string, api: string, now: number): Finding {
  const policy = readPolicy(directory, api);
  if (typeof policy === "string") return [false, policy];
  if (policy.problem !== undefined) return [false, inUseWith(policy.version, policy.problem)];
  const minutes = Math.max(0, Math.round((now - policy.fetchedAt) / MINUTE_MS));
  const mode = policy.document?.mode === "observe" ? ", which only observes" : "";
  return [true, `policy ${policy.version}${mode}, checked ${minutes} minutes ago`];
}

/** Whether events can be kept; tried with as many bytes as the largest usual event has. */
function spoolState(directory: string): Finding {
  const trial = join(directory, `doctor.${process.pid}.tmp`);
  try {
    closeSync(openRegular(join(directory, CURRENT), APPEND));
    writeFileSync(trial, " ".repeat(EVENT_BYTES), { mode: 0o600, flush: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return [
      false,
      `spool: events cannot be kept (${code ?? message}): make "${directory}" writable, or free space`,
    ];
  } finally {
    rmSync(trial, { force: true });
  }
  const sizes = SPOOL_FILES.map((name) => {
    return statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  });
  return [true, `spool: ${sizes.reduce((sum, size) => sum + size, 0)} bytes to send`];
}

/** Fires the hook in a settings file with a test payload; `undefined` if it has none. */
function hookState(
  agent: string,
  path: string,
  machine: Machine,
  pins: Environment,
): Finding | undefined {
  let command: string | undefined;
  try {
    command = hookCommand(readJson(path), agent);
  } catch (error) {
    return [false, (error as Error).message];
  }
  if (command === undefined) return undefined;
  // A project's file comes with the project: it must not make `doctor` run a program.
  if (command !== commandLine(machine, agent, pins)) {
    const again = `signalbox guard setup ${agent}`;
    const isOurs = command.replace(PINS, "") === commandLine(machine, agent, {});
    const what = isOurs
      ? "starts this guard with other settings,"
      : "does not start this guard, but";
    const found = `${what} ${command}`;
    return [false, `${agent}: hook in ${path} ${found}: ${again}`];
  }
  const directory = mkdtempSync(join(tmpdir(), "signalbox-guard-doctor-"));
  try {
    // The command line sets what the agent's environment may not have. So the hook gets nothing of this one's settings.
    const trial = { GUARD_DIR: directory, GUARD_FAIL: "open", RUNTIME_PORTAL_ENABLED: "false" };
    const { status, error, stderr } = spawnSync(commandLine(machine, agent, trial), {
      shell: true,
      input: JSON.stringify({ hook_event_name: EVENTS.get(agent), ...TEST_PAYLOAD }),
      encoding: "utf8",
      timeout: DEADLINE_MS,
      env: withoutSettings(machine.env),
    });
    const answered = status === 0 && !error;
    return [answered, `${agent}: hook in ${path} ${answered ? "answers" : `fails: ${stderr}`}`];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function withoutSettings(env: Environment): Environment {
  const others = Object.entries(env).filter(([name]) => !SETTING.test(name));
  return Object.fromEntries(others);
}

function supportLine([agent, { support }]: readonly [string, AgentSettings]): string {
  return `  ${agent.padEnd(12)} ${support}\n`;
}
