/** Payloads of hooks, in the shapes that the agents document. Each names the version of its source. */

export interface RecordedPayload {
  readonly agent: string;
  /** The version of the agent, or of the document that shows the payload. */
  readonly source: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly attempt: Readonly<Record<string, unknown>>;
}

const claude = {
  session_id: "0b5f7c1e-8a55-4ef0-9f7b-1a2b3c4d5e6f",
  prompt_id: "p1",
  transcript_path: "/home/ada/.claude/projects/x/t.jsonl",
  cwd: "/home/ada/x",
  permission_mode: "default",
};

export const RECORDED: readonly RecordedPayload[] = [
  {
    agent: "claude-code",
    source: "hooks.md of Claude Code 2.1.295",
    payload: {
      ...claude,
      hook_event_name: "PreToolUse",
      tool_name: "Bash",
      tool_input: { command: "git push", description: "Push", timeout: 120_000 },
      tool_use_id: "toolu_01ABC",
    },
    attempt: {
      kind: "before",
      command: "git push",
      session: claude.session_id,
      call: "toolu_01ABC",
    },
  },
  {
    agent: "claude-code",
    source: "hooks.md of Claude Code 2.1.295",
    payload: {
      ...claude,
      hook_event_name: "PreToolUse",
      tool_name: "PowerShell",
      tool_input: { command: "Get-ChildItem" },
      tool_use_id: "toolu_02",
      agent_type: "Explore",
    },
    attempt: { kind: "before", command: "Get-ChildItem", context: "claude-code (Explore)" },
  },
  {
    agent: "claude-code",
    source: "hooks.md of Claude Code 2.1.295",
    payload: {
      ...claude,
      hook_event_name: "PostToolUse",
      tool_name: "Bash",
      tool_input: { command: "ls" },
      tool_response: { stdout: "" },
      duration_ms: 12.4,
      tool_use_id: "toolu_03",
    },
    attempt: { kind: "after", command: "ls", durationMs: 12, succeeded: true },
  },
  {
    agent: "claude-code",
    source: "hooks.md of Claude Code 2.1.295",
    payload: {
      ...claude,
      hook_event_name: "PostToolUseFailure",
      tool_name: "mcp__github__create_issue",
      tool_input: { title: "x" },
      tool_use_id: "toolu_04",
    },
    attempt: {
      kind: "after",
      provider: "mcp/github",
      capability: "mcp/github/create_issue",
      succeeded: false,
    },
  },
  {
    agent: "claude-code",
    source: "hooks.md of Claude Code 2.1.295",
    payload: {
      ...claude,
      hook_event_name: "PreToolUse",
      tool_name: "Edit",
      tool_input: { file_path: "/home/ada/x/a.ts" },
      tool_use_id: "toolu_05",
    },
    attempt: {
      kind: "before",
      provider: "claude-code",
      capability: "claude-code/Edit",
      resource: "/home/ada/x/a.ts",
    },
  },
  {
    agent: "codex",
    source: "pre-tool-use.command.input.schema.json of Codex, 2026-11",
    payload: {
      session_id: "0199-c0de",
      turn_id: "t1",
      transcript_path: null,
      cwd: "/home/ada/x",
      hook_event_name: "PreToolUse",
      model: "gpt-5-codex",
      permission_mode: "default",
      tool_name: "Bash",
      tool_input: { command: "git push" },
      tool_use_id: "call_1",
    },
    attempt: { kind: "before", command: "git push", session: "0199-c0de", call: "call_1" },
  },
  {
    agent: "gemini-cli",
    source: "docs/hooks/reference.md of Gemini CLI, 2026-11",
    payload: {
      session_id: "g-1",
      transcript_path: "/home/ada/.gemini/t.json",
      cwd: "/home/ada/x",
      hook_event_name: "BeforeTool",
      timestamp: "2026-11-20T20:30:00.000Z",
      tool_name: "run_shell_command",
      tool_input: { command: "git push" },
    },
    attempt: { kind: "before", command: "git push", session: "g-1" },
  },
  {
    agent: "codex",
    source: "apply_patch of Codex, 2026-11",
    payload: {
      session_id: "0199-c0de",
      turn_id: "t1",
      transcript_path: null,
      cwd: "/home/ada/x",
      hook_event_name: "PreToolUse",
      model: "gpt-5-codex",
      permission_mode: "default",
      tool_name: "apply_patch",
      tool_input: { command: "*** Begin Patch\n*** Add File: a.sh\n+git push\n*** End Patch" },
      tool_use_id: "call_2",
    },
    attempt: { kind: "before", command: undefined, capability: "codex/apply_patch" },
  },
  {
    agent: "gemini-cli",
    source: "packages/core/src/hooks/types.ts of Gemini CLI, 2026-11",
    payload: {
      session_id: "g-1",
      hook_event_name: "AfterTool",
      timestamp: "2026-11-20T20:30:00.000Z",
      tool_name: "mcp_docs_search",
      tool_input: {},
      tool_response: { error: "no" },
      mcp_context: { server_name: "docs", tool_name: "search", command: "docs-server" },
    },
    attempt: { kind: "after", capability: "mcp/docs/search", succeeded: false },
  },
  {
    agent: "cursor",
    source: "live runs of Cursor 3.9.16",
    payload: {
      conversation_id: "c-1",
      generation_id: "g-1",
      model: "auto",
      hook_event_name: "beforeShellExecution",
      cursor_version: "3.9.16",
      workspace_roots: ["/home/ada/x"],
      user_email: "ada@example.com",
      transcript_path: null,
      command: "git push",
      cwd: "",
      sandbox: false,
    },
    attempt: {
      kind: "before",
      command: "git push",
      executor: "ada@example.com",
      context: "cursor 3.9.16",
    },
  },
  {
    agent: "cursor",
    source: "live runs of Cursor 3.9.16",
    payload: {
      conversation_id: "c-1",
      hook_event_name: "afterShellExecution",
      cursor_version: "3.9.16",
      command: "ls",
      output: "",
      duration: 31,
    },
    attempt: { kind: "after", command: "ls", durationMs: 31 },
  },
  {
    agent: "copilot",
    source: "hooks-reference of GitHub's documentation, 2026-11",
    payload: {
      sessionId: "s-1",
      timestamp: 1_700_000_000_000,
      cwd: "/home/ada/x",
      toolName: "bash",
      toolArgs: '{"command":"git push"}',
    },
    attempt: { kind: "before", command: "git push", session: "s-1" },
  },
  {
    agent: "copilot",
    source: "hooks-reference of GitHub's documentation, 2026-11, postToolUseFailure",
    payload: {
      sessionId: "s-1",
      timestamp: 1_700_000_000_000,
      cwd: "/home/ada/x",
      toolName: "bash",
      toolArgs: { command: "git push" },
      error: "exit code 1",
    },
    attempt: { kind: "after", command: "git push", succeeded: false },
  },
  {
    agent: "copilot",
    source: "use-hooks/post-tool-use of GitHub's documentation, 2026-11",
    payload: {
      timestamp: 1_700_000_000_000,
      cwd: "/home/ada/x",
      toolName: "bash",
      toolArgs: { command: "ls" },
      toolResult: { resultType: "failure", textResultForLlm: "no" },
    },
    attempt: { kind: "after", command: "ls", succeeded: false },
  },
  {
    agent: "copilot",
    source:
      "hooks-reference of GitHub's documentation, with a tool of events that others published, 2026-05",
    payload: {
      sessionId: "s-1",
      timestamp: 1_700_000_000_000,
      cwd: "/home/ada/x",
      toolName: "github-mcp-server-get_file_contents",
      toolArgs: '{"owner":"ada","repo":"x","path":"/"}',
    },
    attempt: {
      kind: "before",
      command: undefined,
      provider: "mcp/unknown",
      capability: "mcp/unknown/github-mcp-server-get_file_contents",
      resource: "/",
    },
  },
  {
    agent: "copilot",
    source: "a tool of Copilot's own that runs no command, 2026-11",
    payload: {
      sessionId: "s-1",
      timestamp: 1_700_000_000_000,
      cwd: "/home/ada/x",
      toolName: "web_fetch",
      toolArgs: '{"url":"https://example.com"}',
    },
    attempt: { kind: "before", provider: "copilot", capability: "copilot/web_fetch" },
  },
];
