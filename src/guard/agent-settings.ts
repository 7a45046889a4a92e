/** The files in which agents keep their hooks, and the form of an entry. */
import { isObject } from "../core/validate.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** The settings of an agent: its files, its events, and the entry of a hook. */
export interface AgentSettings {
  /** The product name of the agent. */
  readonly title: string;
  /** The settings file in a project; `user` is the one in the home directory. */
  readonly project: string;
  readonly user: string;
  /** Added at the root of a new file. */
  readonly root: JsonObject;
  readonly events: readonly string[];
  /** The form of a refusal, for the documentation. */
  readonly denial: string;
  /**
   * Makes the entry of a command line in the list of an event.
   *
   * @param blocks whether the agent should refuse the tool if the hook itself fails; some agents cannot
   */
  entry(command: string, blocks: boolean): JsonObject;
  /** How the support was tested. */
  readonly support: string;
}

const SECONDS = 10;

const likeClaude = (command: string, more: JsonObject = {}): JsonObject => ({
  matcher: "*",
  hooks: [{ type: "command", command, timeout: SECONDS, ...more }],
});

/** The events before a tool runs. */
const BEFORE = /^(?:pre|before)/i;

const EXIT_CODE = "exit code 2";
const READ_ONLY = "written from the documentation, not tested with the agent itself";

/** The settings of each agent. */
export const AGENT_SETTINGS: ReadonlyMap<string, AgentSettings> = new Map<string, AgentSettings>([
  [
    "claude-code",
    {
      title: "Claude Code",
      project: ".claude/settings.json",
      user: ".claude/settings.json",
      root: {},
      events: ["PreToolUse", "PostToolUse", "PostToolUseFailure"],
      entry: (command, blocks) => likeClaude(command, blocks ? { onFailure: "block" } : {}),
      denial: EXIT_CODE,
      support: READ_ONLY,
    },
  ],
  [
    "codex",
    {
      title: "Codex",
      project: ".codex/hooks.json",
      user: ".codex/hooks.json",
      root: {},
      events: ["PreToolUse", "PostToolUse"],
      entry: (command) => likeClaude(command),
      denial: EXIT_CODE,
      support: `${READ_ONLY}; Codex runs a hook once you trust it`,
    },
  ],
  [
    "gemini-cli",
    {
      title: "Gemini CLI",
      project: ".gemini/settings.json",
      user: ".gemini/settings.json",
      root: {},
      events: ["BeforeTool", "AfterTool"],
      entry: (command) => ({
        matcher: ".*",
        hooks: [{ type: "command", name: "signalbox", command, timeout: SECONDS * 1_000 }],
      }),
      denial: EXIT_CODE,
      support: READ_ONLY,
    },
  ],
  [
    "cursor",
    {
      title: "Cursor",
      project: ".cursor/hooks.json",
      user: ".cursor/hooks.json",
      root: { version: 1 },
      events: [
        ...["beforeShellExecution", "afterShellExecution"],
        ...["beforeMCPExecution", "afterMCPExecution"],
      ],
      entry: (command, blocks) => ({ command, ...(blocks && { failClosed: true }) }),
      denial: EXIT_CODE,
      support: READ_ONLY,
    },
  ],
  [
    "copilot",
    {
      title: "Copilot",
      project: ".github/hooks/signalbox.json",
      user: ".copilot/hooks/signalbox.json",
      root: { version: 1 },
      events: ["preToolUse", "postToolUse", "postToolUseFailure"],
      entry: (command) => ({
        type: "command",
        bash: command,
        powershell: `& ${command}`,
        timeoutSec: SECONDS,
      }),
      denial: "JSON on the standard output",
      support: READ_ONLY,
    },
  ],
]);

/**
 * Replaces the guard's hooks in an agent's settings. Without `command` the hooks are only removed.
 *
 * @param blocks whether the agent should refuse a tool if the hook before it fails
 */
export function withHooks(
  settings: JsonObject,
  agent: string,
  { root, events, entry }: AgentSettings,
  command: string | undefined,
  blocks = false,
): JsonObject {
  const before = isObject(settings["hooks"]) ? settings["hooks"] : {};
  const names = new Set([...Object.keys(before), ...(command === undefined ? [] : events)]);
  const hooks: [string, Json][] = [];
  for (const name of names) {
    const list = before[name];
    if (list !== undefined && !Array.isArray(list)) {
      hooks.push([name, list]);
      continue;
    }
    const entries: readonly Json[] = list ?? [];
    const own = entries.findIndex((one) => isOwn(one, agent));
    const kept = entries.flatMap((one) => withoutOwn(one, agent));
    if (command !== undefined && events.includes(name)) {
      kept.splice(own === -1 ? kept.length : own, 0, entry(command, blocks && BEFORE.test(name)));
    }
    if (kept.length > 0 || own === -1) hooks.push([name, kept]);
  }
  const { hooks: _, ...rest } = settings;
  if (command === undefined) {
    if (hooks.length === 0) return rest;
    return { ...settings, hooks: Object.fromEntries(hooks) };
  }
  return { ...root, ...settings, hooks: Object.fromEntries(hooks) };
}

/** The command line of the first hook of the guard for an agent. */
export function hookCommand(settings: JsonObject, agent: string): string | undefined {
  const found = new RegExp(`"((?:[^"\\\\]|\\\\.)* hook ${agent})"`).exec(JSON.stringify(settings));
  return found ? (JSON.parse(`"${found[1] ?? ""}"`) as string) : undefined;
}

/** An entry without the guard's hooks: a group may have hooks of the user beside them. */
function withoutOwn(entry: Json, agent: string): readonly Json[] {
  if (!isOwn(entry, agent)) return [entry];
  const inner = isObject(entry) && Array.isArray(entry["hooks"]) ? entry["hooks"] : [];
  const others = inner.filter((one) => !isOwn(one, agent));
  return others.length > 0 ? [{ ...(entry as JsonObject), hooks: others }] : [];
}

/** Whether an entry is the guard's: its command line ends with `hook` and the agent. */
function isOwn(entry: Json, agent: string): boolean {
  const text = JSON.stringify(entry);
  return text.includes(` hook ${agent}"`) && /guard|signalbox/i.test(text);
}
