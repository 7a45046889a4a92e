/** The tools of AI agents in the terms of audit events, for hooks and for telemetry alike. */
import { jsonOrUndefined } from "../core/json/json.ts";
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
  /** The resources that the tool may act on in place of `resource`. */
  readonly otherResources?: readonly string[] | undefined;
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
  const [resource, ...otherResources] = input ? resourcesIn(input) : [];
  const others = otherResources.length > 0 && { otherResources };
  return { ...run, provider, capability: `${provider}/${name}`, resource, ...others };
}

/** The command in the input of a tool, as a shell text. */
export function commandIn(input: AgentData): string | undefined {
  return commandsIn(input, false)[0];
}

/** Members of a tool's input by name, each with a pattern that ignores letter case, and so takes `ſ` for `s` too. */
type Members = readonly (readonly [name: string, anyhow: RegExp])[];

const COMMANDS = membersOf("command", "cmd", "args");
const RESOURCES = membersOf("file_path", "path", "url");
/** The ways in which tools spell their members. */
const SPELLINGS = [
  (name: string) => name,
  (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
  (name: string) => name.toUpperCase(),
];

function membersOf(...names: readonly string[]): Members {
  return names.map((name) => [name, new RegExp(`^${name}$`, "iu")]);
}

/**
 * The members of an input as different tools read them. A tool ignores the members that it does not know, so an agent can
 * add a harmless `command` for a tool that reads `Command`.
 */
function readingsOf(input: AgentData, members: Members): readonly AgentData[] {
  const readings = SPELLINGS.map((spelling) =>
    Object.fromEntries(members.map(([name]) => [name, input[spelling(name)]])),
  );
  return [...readings, withoutCase(input, members)];
}

/** The members for a tool that ignores letter case, as in Go: the last one counts, and null sets nothing. */
function withoutCase(input: AgentData, members: Members): AgentData {
  const given = Object.entries(input).filter(([, value]) => value !== null && value !== undefined);
  const read = given.flatMap(([key, value]) =>
    members.flatMap(([name, anyhow]) => (anyhow.test(key) ? [[name, value]] : [])),
  );
  return Object.fromEntries(read) as AgentData;
}

/** The resources in the input of a tool. It is not known which of them the tool reads. */
function resourcesIn(input: AgentData): readonly string[] {
  const found = readingsOf(input, RESOURCES).flatMap((reading) =>
    RESOURCES.flatMap(([name]) => textIn(reading, name) ?? []),
  );
  return [...new Set(found)];
}

/**
 * The commands in the input of a tool, as shell texts. An agent can add a harmless `command` for a tool that reads `cmd`,
 * or `args` for a tool that runs the text in `command`.
 *
 * @param isShell whether the tool is known to read no `args`
 */
function commandsIn(input: AgentData, isShell: boolean): readonly string[] {
  const readings = readingsOf(input, COMMANDS);
  return [...new Set(readings.flatMap((reading) => commandsRead(reading, isShell)))];
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
  const value = jsonOrUndefined(json);
  return isObject(value) ? value : undefined;
}
