/** The telemetry that AI agents send about their tools, as audit events. `docs/guard.md` names the versions. */
import { createHash } from "node:crypto";
import { parseInnerJson } from "../../core/json/json.ts";
import { isObject } from "../../core/validate.ts";
import { type AgentData, commandIn, textIn, toolUse, type ToolUse } from "../agent-tools.ts";
import { type EventField, REPORTED_FIELDS } from "../event-fields.ts";
import type { RawEvent } from "../ingest.ts";
import {
  type Attributes,
  attributesOf,
  type LogRecord,
  momentOf,
  MOST_ATTRIBUTES,
  type Plain,
} from "./records.ts";

/** The agents by the names of their records about tools. */
const AGENTS: ReadonlyMap<string, string> = new Map([
  ["claude_code.tool_decision", "claude-code"],
  ["claude_code.tool_result", "claude-code"],
  ["codex.tool_decision", "codex"],
  ["codex.tool_result", "codex"],
  ["gemini_cli.tool_call", "gemini-cli"],
]);

const ALLOWED = /^(?:accept|auto_accept|modify|approved)/;
const DENIED = /^(?:reject|denied|abort|timed?_?out|cancel)/;

/** Makes an audit event of a record, or returns the reason why the record is rejected. */
export function toolEvent(record: LogRecord): RawEvent | string {
  const { fields, resource } = record;
  const attributes = attributesOf(fields);
  if (attributes === undefined || resource === undefined) {
    return `with more than ${MOST_ATTRIBUTES} attributes`;
  }
  const name = nameOf(fields, attributes, resource);
  const agent = name === undefined ? undefined : AGENTS.get(name);
  if (name === undefined || agent === undefined) return "not about a tool of a known agent";
  const text = (key: string) => textOf(attributes.get(key));
  const tool = text("tool_name") ?? text("function_name");
  if (tool === undefined) return "without the name of a tool";

  const session =
    text("session.id") ?? text("conversation.id") ?? textOf(resource.get("session.id"));
  const outcome = text("success");
  const decision = text("decision");
  const event = {
    id: idOf(name, fields, attributes, resource),
    timestamp: momentOf(fields),
    consumer: "ai",
    executor: text("user.email") ?? text("user.id"),
    ...useOf(agent, tool, attributes),
    policy_decision: decision && decisionOf(decision),
    reason: decision && [decision, text("source")].filter((part) => part).join(", decided by "),
    status: outcome && (outcome === "true" ? "succeeded" : "failed"),
    message: text("error") ?? text("error.message"),
    duration_ms: millisecondsOf(text("duration_ms")),
    runtime_name: textOf(resource.get("host.name")),
    runtime_context: [agent, versionOf(agent, attributes, resource)]
      .filter((part) => part)
      .join(" "),
    trace_id: session,
    transport: agent,
  };
  const tooLong = REPORTED_FIELDS.find((field) => isTooLong(event, field));
  if (tooLong === undefined) return event;
  return `with more than ${(tooLong.limit ?? 0) / 1024} KiB in ${tooLong.name}`;
}

/** Agents put the name into the record, an attribute or the body. Claude Code omits its prefix in the attribute. */
function nameOf(
  { eventName, body }: LogRecord["fields"],
  attributes: Attributes,
  resource: Attributes,
): string | undefined {
  const named = attributes.get("event.name");
  const service = resource.get("service.name");
  const whole = service === "claude-code" ? `claude_code.${String(named)}` : undefined;
  const text = (body as { readonly stringValue?: unknown } | null | undefined)?.stringValue;
  return [eventName, named, text, whole].find(
    (name): name is string => typeof name === "string" && AGENTS.has(name),
  );
}

/** Derives the id from the record, which has no id of its own: a record that is sent again gets the same id. */
function idOf(
  name: string,
  { timeUnixNano }: LogRecord["fields"],
  attributes: Attributes,
  resource: Attributes,
): string {
  const source = [
    resource.get("service.name"),
    resource.get("host.name"),
    resource.get("session.id"),
  ];
  const sorted = [...attributes].sort(([a], [b]) => (a < b ? -1 : 1));
  // Of an object it is the JSON: `String` calls its `toString`, which may be any value that was sent.
  const time = typeof timeUnixNano === "object" ? JSON.stringify(timeUnixNano) : timeUnixNano;
  const identity = JSON.stringify([name, String(time), source, sorted]);
  return `otlp:${createHash("sha256").update(identity).digest("base64url")}`;
}

function useOf(agent: string, tool: string, attributes: Attributes): ToolUse {
  const data = (key: string): AgentData | undefined => {
    const value = parseInnerJson(textOf(attributes.get(key)) ?? "");
    return isObject(value) ? value : undefined;
  };
  const parameters = data("tool_parameters") ?? {};
  const given = data("tool_input") ?? data("arguments") ?? data("function_args") ?? {};
  const command = commandOf(given) ?? textIn(parameters, "full_command");
  const server =
    textIn(parameters, "mcp_server_name") ??
    textOf(attributes.get("mcp_server")) ??
    textOf(attributes.get("mcp_server_name"));
  const inner = textIn(parameters, "mcp_tool_name") ?? tool;
  // The command has its arguments already, which other members would add again.
  const { file_path, path, url } = given;
  const input = { command, file_path, path, url };
  return toolUse(agent, server === undefined ? tool : inner, input, server);
}

/** The command of a tool. Of the list of words that Codex sends, `bash -lc TEXT` becomes TEXT. */
function commandOf(input: AgentData): string | undefined {
  const words: unknown = input["command"];
  if (!Array.isArray(words) || words.length !== 3) return commandIn(input);
  const [program, option, script] = words.map(String) as [string, string, string];
  const isScript = /(?:^|\/)(?:ba|z|da)?sh$/.test(program) && /^-l?c$/.test(option);
  return isScript && typeof words[2] === "string" ? script : commandIn(input);
}

function decisionOf(decision: string): string | undefined {
  if (ALLOWED.test(decision)) return "ALLOWED";
  return DENIED.test(decision) ? "DENIED" : undefined;
}

/** The agent's version. For Gemini CLI `service.version` does not count: it is the version of Node. */
function versionOf(
  agent: string,
  attributes: Attributes,
  resource: Attributes,
): string | undefined {
  const own = textOf(attributes.get("app.version"));
  return agent === "gemini-cli" ? own : (own ?? textOf(resource.get("service.version")));
}

/** A value as text; `undefined` for an absent or empty one, and for lists and maps. */
function textOf(value: Plain | undefined): string | undefined {
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function millisecondsOf(text: string | undefined): number | undefined {
  const ms = Math.round(Number(text));
  return text !== undefined && Number.isSafeInteger(ms) && ms >= 0 ? ms : undefined;
}

function isTooLong(event: RawEvent, { name, limit }: EventField): boolean {
  const value = event[name];
  return limit !== undefined && typeof value === "string" && Buffer.byteLength(value) > limit;
}
