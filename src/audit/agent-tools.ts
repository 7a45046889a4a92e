/** The tools of AI agents in the terms of audit events, for hooks and for telemetry alike. */
import { isObject } from "../core/validate.ts";

/** A JSON object that an agent has sent. */
export type AgentData = Readonly<Record<string, unknown>>;

/** The fields of an event that name the use of a tool: the command, or provider and capability. */
export interface ToolUse {
  readonly command?: string | undefined;
  readonly provider?: string | undefined;
  readonly capability?: string | undefined;
  readonly resource?: string | undefined;
}

const SHELL_TOOLS: ReadonlySet<string> = new Set([
  ...["Bash", "PowerShell", "Shell", "shell", "bash", "powershell", "run_shell_command"],
  ...["shell_command", "exec_command", "local_shell", "container.exec"],
]);
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Whether a tool runs the text of a command. */
export function isShellTool(tool: string): boolean {
  return SHELL_TOOLS.has(tool);
}

/** Names the use of a tool. A shell tool whose input has no command is named like any other tool. */
export function toolUse(agent: string, tool: string, input: AgentData | undefined): ToolUse {
  const command = input && isShellTool(tool) ? textIn(input, "command") : undefined;
  if (command !== undefined) return { command };
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  const provider = server === undefined ? agent : `mcp/${server}`;
  const resource =
    input && (textIn(input, "file_path") ?? textIn(input, "path") ?? textIn(input, "url"));
  return { provider, capability: `${provider}/${name ?? tool}`, resource };
}

/** A member that is a text with at least one character; otherwise `undefined`. */
export function textIn(data: AgentData, key: string): string | undefined {
  const value = data[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Reads a JSON text that should hold an object; `undefined` if it does not. */
export function objectOf(json: string): AgentData | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Quotes a word for a shell; a plain word stays as it is. */
export function quotedWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
