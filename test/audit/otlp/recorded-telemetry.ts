/** Log records of agents in OTLP's JSON, in the shapes that their documents and sources show. */

type Value = string | number | boolean;
export type Attributes = Readonly<Record<string, Value>>;

/** Attributes in OTLP's JSON, in which 64-bit integers are texts. */
function pairs(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => {
    if (typeof value === "string") return { key, value: { stringValue: value } };
    if (typeof value === "boolean") return { key, value: { boolValue: value } };
    return { key, value: { intValue: String(value) } };
  });
}

/** One record of OTLP's JSON. */
export interface OtlpRecord {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly body: { readonly stringValue: string };
  readonly attributes: ReturnType<typeof pairs>;
}

export const TIME_NANOS = "1795206600123456789";

/** A record with a body and attributes. */
export function record(body: string, attributes: Attributes): OtlpRecord {
  return {
    timeUnixNano: TIME_NANOS,
    observedTimeUnixNano: TIME_NANOS,
    body: { stringValue: body },
    attributes: pairs(attributes),
  };
}

/** The request of an exporter. */
export function logsOf(
  resource: Attributes,
  scope: string,
  logRecords: readonly OtlpRecord[],
): object {
  return {
    resourceLogs: [
      {
        resource: { attributes: pairs(resource) },
        scopeLogs: [{ scope: { name: scope }, logRecords }],
      },
    ],
  };
}

const claude = {
  "session.id": "0b5f7c1e-8a55-4ef0-9f7b-1a2b3c4d5e6f",
  "organization.id": "00000000-0000-0000-0000-000000000001",
  "user.id": "a1b2c3",
  "user.email": "ada@example.com",
  "terminal.type": "xterm-256color",
  "event.timestamp": "2026-11-20T20:30:00.123Z",
};
const claudeResource = {
  "service.name": "claude-code",
  "service.version": "2.1.175",
  "host.arch": "amd64",
  "os.type": "linux",
  "host.name": "laptop-ada",
};

/** The telemetry of Claude Code 2.1.175 with OTEL_LOG_TOOL_DETAILS=1. */
export const CLAUDE_RECORDS = {
  prompt: record("claude_code.user_prompt", {
    ...claude,
    "event.name": "user_prompt",
    "event.sequence": 0,
    prompt_length: 18,
  }),
  decision: record("claude_code.tool_decision", {
    ...claude,
    "event.name": "tool_decision",
    "event.sequence": 1,
    tool_name: "Write",
    tool_use_id: "toolu_02",
    decision: "reject",
    source: "user_temporary",
  }),
  shell: record("claude_code.tool_result", {
    ...claude,
    "event.name": "tool_result",
    "event.sequence": 2,
    tool_name: "Bash",
    tool_use_id: "toolu_01",
    success: "true",
    duration_ms: 150,
    decision_source: "config",
    decision_type: "accept",
    tool_parameters: '{"bash_command":"git","full_command":"git push origin","description":"Push"}',
    tool_input: '{"command":"git push origin","description":"Push"}',
    tool_result_size_bytes: "6",
  }),
  mcp: record("claude_code.tool_result", {
    ...claude,
    "event.name": "tool_result",
    "event.sequence": 3,
    tool_name: "mcp_tool",
    tool_use_id: "toolu_03",
    success: "false",
    duration_ms: 200,
    tool_parameters: '{"mcp_server_name":"tracker","mcp_tool_name":"search"}',
    error: "the server is away",
  }),
} as const;

export function claudeLogs(...records: readonly OtlpRecord[]): object {
  return logsOf(claudeResource, "com.anthropic.claude_code.events", records);
}

const codex = {
  "event.timestamp": "2026-11-20T20:30:00.123Z",
  "conversation.id": "67e55044-10b1-426f-9247-bb680e5fe0c8",
  "app.version": "0.128.0",
  "user.email": "bo@example.com",
  "terminal.type": "xterm",
  model: "gpt-5.5",
};

/** The records of `codex-rs/otel` as of 2026-11. */
export const CODEX_LOGS = logsOf(
  { "service.name": "codex_cli_rs", "service.version": "0.128.0", env: "dev" },
  "codex_otel.log_only",
  [
    record("", {
      ...codex,
      "event.name": "codex.tool_decision",
      tool_name: "shell",
      call_id: "call_1",
      decision: "approved_for_session",
      source: "User",
    }),
    record("", {
      ...codex,
      "event.name": "codex.tool_result",
      tool_name: "shell",
      call_id: "call_1",
      arguments: '{"command":["bash","-lc","npm test && git push"],"workdir":"/x"}',
      duration_ms: "41",
      success: "false",
      output: "exit 1",
      mcp_server: "",
      mcp_server_origin: "",
    }),
    record("", { ...codex, "event.name": "codex.sse_event", "event.kind": "response.completed" }),
  ],
);

/** The records of `packages/core/src/telemetry` of Gemini CLI as of 2026-11. */
export const GEMINI_LOGS = logsOf(
  { "service.name": "gemini-cli", "service.version": "v22.3.0", "session.id": "g-1" },
  "gemini-cli",
  [
    record("Tool call: run_shell_command. Decision: auto_accept. Success: true. Duration: 7ms.", {
      "session.id": "g-1",
      "installation.id": "i-1",
      "event.name": "gemini_cli.tool_call",
      "event.timestamp": "2026-11-20T20:30:00.123Z",
      function_name: "run_shell_command",
      function_args: '{\n  "command": "ls -la"\n}',
      duration_ms: 7,
      success: true,
      decision: "auto_accept",
      prompt_id: "p-1",
      tool_type: "native",
    }),
  ],
);
