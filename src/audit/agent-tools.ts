/** The tools of AI agents in the terms of audit events, for hooks and for telemetry alike. */
import { commandText, isPlainWord, quotedWord } from "../core/quoted-word.ts";
import { isObject } from "../core/validate.ts";

/** A JSON object that an agent has sent. */
export type AgentData = Readonly<Record<string, unknown>>;

/** The fields of an event that name the use of a tool: the command, provider and capability, or both. */
export interface ToolUse {
  readonly command?: string | undefined;
  /** The texts that the tool may run in place of `command`, since it is not known which of its input it reads. */
  readonly instead?: readonly string[] | undefined;
  readonly provider?: string | undefined;
  readonly capability?: string | undefined;
  readonly resource?: string | undefined;
}

const SHELL_TOOLS: ReadonlySet<string> = new Set([
  ...["Bash", "PowerShell", "Shell", "shell", "bash", "powershell", "run_shell_command"],
  ...["shell_command", "exec_command", "local_shell", "container.exec", "Monitor"],
]);
/** Tools whose `command` no shell reads: it is the name of an operation, or the text of a patch. */
const OPERATION_TOOLS: ReadonlySet<string> = new Set([
  ...["str_replace_based_edit_tool", "str_replace_editor", "memory", "SlashCommand", "Skill"],
  "apply_patch",
]);

/** Whether a tool is known to run the text of a command. */
export function isShellTool(tool: string): boolean {
  return SHELL_TOOLS.has(tool);
}

/**
 * Names the use of a tool. An unknown tool may be a shell under a new name, so its command is decided as a shell text.
 * It also keeps its capability, because rules may name it. A shell tool without a command is named like any other tool.
 *
 * @param server the MCP server of the tool, if the agent names it apart from the tool
 */
export function toolUse(
  agent: string,
  tool: string,
  input: AgentData | undefined,
  server?: string,
): ToolUse {
  const isOwn = server === undefined;
  const isShell = isOwn && isShellTool(tool);
  const texts = input && !(isOwn && OPERATION_TOOLS.has(tool)) ? commandsIn(input, isShell) : [];
  const [first, ...instead] = texts;
  const run = { command: first, ...(instead.length > 0 && { instead }) };
  if (first && isShell) return run;
  // With `s` the rest always matches: otherwise a name with a line break takes the square of its length.
  const [, named, name] = (isOwn && /^mcp__(.+?)__(.+)$/s.exec(tool)) || [undefined, server, tool];
  const provider = named === undefined ? agent : `mcp/${named}`;
  const resource =
    input && (textIn(input, "file_path") ?? textIn(input, "path") ?? textIn(input, "url"));
  return { ...run, provider, capability: `${provider}/${name}`, resource };
}

/** The command in the input of a tool, as a shell text. */
export function commandIn(input: AgentData): string | undefined {
  return commandsIn(input, false)[0];
}

/** The members of a tool's input that hold its command. */
const COMMAND_MEMBERS = ["command", "cmd", "args"] as const;
/** The same without regard to letter case. Such readers of JSON take `ſ` for `s`, too. */
const SPELLED_ANYHOW = COMMAND_MEMBERS.map(
  (name) => [name, new RegExp(`^${name}$`, "iu")] as const,
);
/** The ways in which tools spell their members. */
const SPELLINGS = [
  (name: string) => name,
  (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
  (name: string) => name.toUpperCase(),
];

/**
 * The commands in the input of a tool, as shell texts. A tool ignores the members that it does not know, so an agent can
 * add a harmless `command` for a tool that reads `cmd` or `Command`, or `args` for a tool that runs the text in `command`.
 *
 * @param isShell whether the tool is known to read no `args`
 */
function commandsIn(input: AgentData, isShell: boolean): readonly string[] {
  const readings = SPELLINGS.map((spelling) => spelled(input, spelling));
  readings.push(withoutCase(input));
  return [...new Set(readings.flatMap((reading) => commandsRead(reading, isShell)))];
}

/** The members that hold a command for a tool that knows one spelling. */
function spelled(input: AgentData, spelling: (name: string) => string): AgentData {
  return Object.fromEntries(COMMAND_MEMBERS.map((name) => [name, input[spelling(name)]]));
}

/** The same for a tool that ignores letter case, as in Go: the last one counts, and null sets nothing. */
function withoutCase(input: AgentData): AgentData {
  const given = Object.entries(input).filter(([, value]) => value !== null && value !== undefined);
  const members = given.flatMap(([key, value]) =>
    SPELLED_ANYHOW.flatMap(([name, pattern]) => (pattern.test(key) ? [[name, value]] : [])),
  );
  return Object.fromEntries(members) as AgentData;
}

function commandsRead(input: AgentData, isShell: boolean): readonly string[] {
  const more = isShell ? undefined : argumentsIn(input);
  const texts = ["command", "cmd"].flatMap((key) => textOrWordsIn(input, key) ?? []);
  if (more === undefined) return texts;
  const whole = texts.map((text) => `${text} ${more}`);
  // A single word is the name of a program, which gets the arguments. In `ls;sh` there are two.
  return [...whole, ...texts.filter((text) => !isPlainWord(text.trim()))];
}

function textOrWordsIn(data: AgentData, key: string): string | undefined {
  const words = wordsIn(data, key, (word) => typeof word === "string");
  return words ? commandText(words) : textIn(data, key);
}

/** The arguments apart from a command, as a shell text. */
function argumentsIn(data: AgentData): string | undefined {
  const words = wordsIn(data, "args", (word) => typeof word !== "object");
  return words?.map(quotedWord).join(" ") ?? textIn(data, "args");
}

/** A member that is a list with at least one word of its kind. Programs make texts of numbers in it too. */
function wordsIn(
  data: AgentData,
  key: string,
  isWord: (word: unknown) => boolean,
): readonly string[] | undefined {
  const value: unknown = data[key];
  if (!Array.isArray(value) || !value.some(isWord)) return undefined;
  return value.map((word: unknown) => (typeof word === "object" ? "" : String(word)));
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
