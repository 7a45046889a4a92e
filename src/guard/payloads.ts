/** The payloads that agents send to their hooks. `docs/guard.md` names the supported versions. */
import {
  type AgentData as Payload,
  isShellTool,
  objectOf,
  textIn as text,
  type ToolUse,
  toolUse,
} from "../audit/agent-tools.ts";
import { isObject } from "../core/validate.ts";
import type { Attempt } from "./attempt.ts";

/** An agent whose hooks the guard answers. */
export interface Agent {
  /** Reads a payload; `undefined` if it is not one of this agent's known events. */
  read(payload: Payload): Attempt | undefined;
  /** The form of a refusal: exit code 2 and the reason on the standard error, or JSON on the standard output. */
  readonly denial: "exit" | ((reason: string) => object);
  /** The answer that allows, if the agent takes silence for a failed hook where `setup` has it refuse after failures. */
  readonly permission?: object;
}

/** The agents by the names that `guard hook` takes. */
export const AGENTS: ReadonlyMap<string, Agent> = new Map<string, Agent>([
  ["claude-code", { read: (one) => likeClaude(one, "claude-code"), denial: "exit" }],
  ["codex", { read: (one) => likeClaude(one, "codex"), denial: "exit" }],
  ["gemini-cli", { read: gemini, denial: "exit" }],
  ["cursor", { read: cursor, denial: "exit", permission: { permission: "allow" } }],
  [
    "copilot",
    {
      read: copilot,
      denial: (reason) => ({ permissionDecision: "deny", permissionDecisionReason: reason }),
    },
  ],
]);

/** Claude Code and Codex. */
function likeClaude(payload: Payload, transport: string): Attempt | undefined {
  const event = payload["hook_event_name"];
  const kind = event === "PreToolUse" ? "before" : AFTER.has(event) ? "after" : undefined;
  const tool = text(payload, "tool_name");
  const session = text(payload, "session_id");
  if (!kind || tool === undefined || session === undefined) return undefined;
  const used = toolOf(transport, tool, objectIn(payload, "tool_input"));
  return (
    used && {
      kind,
      ...used,
      session,
      call: text(payload, "tool_use_id"),
      context: contextOf(transport, payload),
      durationMs: duration(payload["duration_ms"]),
      succeeded: kind === "after" ? event !== "PostToolUseFailure" : undefined,
    }
  );
}
const AFTER: ReadonlySet<unknown> = new Set(["PostToolUse", "PostToolUseFailure"]);

function gemini(payload: Payload): Attempt | undefined {
  const event = payload["hook_event_name"];
  const kind = event === "BeforeTool" ? "before" : event === "AfterTool" ? "after" : undefined;
  const tool = text(payload, "tool_name");
  const session = text(payload, "session_id");
  if (!kind || tool === undefined || session === undefined) return undefined;
  const mcp = objectIn(payload, "mcp_context");
  const server = mcp && text(mcp, "server_name");
  // `tool_name` contains the server in a form that changes with the version.
  const inner = (server !== undefined && mcp && text(mcp, "tool_name")) || tool;
  const used = toolOf("gemini-cli", inner, objectIn(payload, "tool_input"), server);
  const failure = objectIn(payload, "tool_response")?.["error"];
  return (
    used && {
      kind,
      ...used,
      session,
      context: "gemini-cli",
      succeeded: kind === "after" ? failure === undefined || failure === null : undefined,
    }
  );
}

function cursor(payload: Payload): Attempt | undefined {
  const event = text(payload, "hook_event_name");
  const [, when, what] = /^(before|after)(ShellExecution|MCPExecution)$/.exec(event ?? "") ?? [];
  const session = text(payload, "conversation_id");
  if ((when !== "before" && when !== "after") || session === undefined) return undefined;
  const shared = {
    kind: when,
    executor: text(payload, "user_email"),
    session,
    context: contextOf("cursor", payload, "cursor_version"),
    durationMs: duration(payload["duration"]),
    succeeded: undefined,
  } as const;
  if (what === "ShellExecution") {
    const command = text(payload, "command");
    return command === undefined ? undefined : { ...shared, ...shellOf("cursor", command) };
  }
  const tool = text(payload, "tool_name");
  const server = text(payload, "server_name") ?? "unknown";
  if (tool === undefined) return undefined;
  const used = toolOf("cursor", tool, inputIn(payload["tool_input"]), server);
  return used && { ...shared, ...used };
}

/** Tools of MCP servers are `<server>-<tool>` in Copilot, whose own tools have no hyphen. Both parts may have more. */
const JOINED = /.-./;

/** Copilot does not name the event. A payload with a result or an error means that the tool has run. */
function copilot(payload: Payload): Attempt | undefined {
  const tool = text(payload, "toolName");
  if (tool === undefined || payload["timestamp"] === undefined) return undefined;
  const failure = text(payload, "error") === undefined ? undefined : { resultType: "failure" };
  const result = objectIn(payload, "toolResult") ?? failure;
  const server = JOINED.test(tool) ? "unknown" : undefined;
  const used = toolOf("copilot", tool, inputIn(payload["toolArgs"]), server);
  return (
    used && {
      kind: result ? "after" : "before",
      ...used,
      session: text(payload, "sessionId"),
      context: "copilot",
      succeeded: result && result["resultType"] !== "failure" && result["resultType"] !== "denied",
    }
  );
}

type Used = Pick<Attempt, "transport" | "consumer" | keyof ToolUse>;

function shellOf(transport: string, command: string): Used {
  return { transport, consumer: "ai", command };
}

/** The use of a tool; `undefined` for a shell tool without a command. */
function toolOf(
  transport: string,
  tool: string,
  input: Payload | undefined,
  server?: string,
): Used | undefined {
  const use = toolUse(transport, tool, input, server);
  if (server === undefined && isShellTool(tool) && use.command === undefined) return undefined;
  return { transport, consumer: "ai", ...use };
}

/** The input of a tool: an object, or its JSON. */
function inputIn(given: unknown): Payload | undefined {
  return typeof given === "string" ? objectOf(given) : object(given);
}

function contextOf(agent: string, payload: Payload, key = "version"): string {
  const version = text(payload, key);
  const inner = text(payload, "agent_type");
  return [agent, version, inner && `(${inner})`].filter((part) => part !== undefined).join(" ");
}

function duration(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? Math.round(value) : undefined;
}

function objectIn(payload: Payload, key: string): Payload | undefined {
  return object(payload[key]);
}

function object(value: unknown): Payload | undefined {
  return isObject(value) ? value : undefined;
}
