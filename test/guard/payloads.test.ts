import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toolUse } from "../../src/audit/agent-tools.ts";
import { quotedWord } from "../../src/core/quoted-word.ts";
import { AGENTS } from "../../src/guard/payloads.ts";
import { RECORDED } from "./recorded-payloads.ts";

for (const [at, { agent, source, payload, attempt }] of RECORDED.entries()) {
  test(`payload ${at + 1}, ${agent}, ${source}: is read correctly`, () => {
    const read = AGENTS.get(agent)?.read(payload);
    assert.ok(read);
    assert.deepEqual({ ...read, ...attempt }, read);
    assert.deepEqual([read.transport, read.consumer], [agent, "ai"]);
  });
}

test("every agent has a payload of a command that is about to run", () => {
  const before = RECORDED.filter(({ attempt }) => attempt["kind"] === "before");
  assert.deepEqual([...new Set(before.map(({ agent }) => agent))], [...AGENTS.keys()]);
});

test("a reader refuses the payloads of other agents, except that Codex and Claude Code are alike", () => {
  const families = new Map([["codex", "claude-code"]]);
  for (const { agent, payload } of RECORDED) {
    for (const [name, { read }] of AGENTS) {
      const isSame = (families.get(name) ?? name) === (families.get(agent) ?? agent);
      if (!isSame) assert.equal(read(payload), undefined, `${agent} as ${name}`);
    }
  }
});

test("a shell tool without a command, and an unknown event, are not attempts", () => {
  for (const { agent, payload } of RECORDED) {
    const read = AGENTS.get(agent)?.read;
    assert.equal(read?.({ ...payload, hook_event_name: "Stop", toolName: undefined }), undefined);
    if (payload["tool_name"] !== "Bash") continue;
    assert.equal(read?.({ ...payload, tool_input: { command: [1] } }), undefined);
    assert.equal(read?.({ ...payload, tool_input: null }), undefined);
  }
});

const useOf = (tool_name: string, tool_input: object) => {
  const payload = { hook_event_name: "PreToolUse", session_id: "s", tool_name, tool_input };
  const read = AGENTS.get("claude-code")?.read(payload);
  return [read?.command, read?.provider, read?.capability];
};

test("every tool with a command runs it, and an unknown tool keeps its capability", () => {
  const input = { command: "curl x | sh", description: "x" };
  const unknown = ["claude-code", "claude-code/NewShell"];
  assert.deepEqual(useOf("Monitor", input), ["curl x | sh", undefined, undefined]);
  assert.deepEqual(useOf("NewShell", input), ["curl x | sh", ...unknown]);
  assert.deepEqual(useOf("NewShell", { cmd: "ls" }), ["ls", ...unknown]);
  assert.deepEqual(useOf("Bash", { command: ["git", "push"] }), ["git push", undefined, undefined]);
  const words = ["bash", "-lc", "git push"];
  assert.deepEqual(useOf("NewShell", { command: words }), ["bash -lc 'git push'", ...unknown]);
  const apart = { command: "git", args: ["push", "a b"] };
  assert.deepEqual(useOf("NewShell", apart), ["git push 'a b'", ...unknown]);
  assert.deepEqual(useOf("NewShell", { command: ["git"], args: "push" }), ["git push", ...unknown]);
  assert.deepEqual(useOf("NewShell", { cmd: ["git", "log", -1] }), ["git log -1", ...unknown]);
  for (const command of [[], [1], {}, ""]) {
    assert.deepEqual(useOf("NewShell", { command }), [undefined, ...unknown]);
  }
  assert.deepEqual(useOf("mcp__box__run", input), ["curl x | sh", "mcp/box", "mcp/box/run"]);
});

test("an MCP tool of Cursor runs the command in its input, which is an object or its JSON", () => {
  const input = { command: "git push", path: "/x" };
  for (const tool_input of [input, JSON.stringify(input)]) {
    const read = AGENTS.get("cursor")?.read({
      ...{ hook_event_name: "beforeMCPExecution", conversation_id: "c" },
      ...{ tool_name: "run", tool_input, command: "node server.js" },
    });
    assert.deepEqual(
      [read?.command, read?.provider, read?.capability, read?.resource],
      ["git push", "mcp/unknown", "mcp/unknown/run", "/x"],
    );
  }
});

test("the name of an MCP server may have two underscores if the agent names it apart from the tool", () => {
  const gemini = AGENTS.get("gemini-cli")?.read({
    ...{ hook_event_name: "BeforeTool", session_id: "s", tool_name: "mcp_a__b_memory" },
    mcp_context: { server_name: "a__b", tool_name: "memory" },
    tool_input: { command: "ls" },
  });
  const cursor = AGENTS.get("cursor")?.read({
    ...{ hook_event_name: "beforeMCPExecution", conversation_id: "c" },
    ...{ server_name: "a__b", tool_name: "bash" },
  });
  assert.deepEqual([gemini?.capability, gemini?.command], ["mcp/a__b/memory", "ls"]);
  assert.deepEqual([cursor?.provider, cursor?.capability], ["mcp/a__b", "mcp/a__b/bash"]);
});

test("the `command` of an editor or a skill stays a part of its input", () => {
  for (const tool of ["str_replace_based_edit_tool", "Skill", "SlashCommand"]) {
    const use = [undefined, "claude-code", `claude-code/${tool}`];
    assert.deepEqual(useOf(tool, { command: "view" }), use);
  }
});

test("no JSON makes an agent's reader throw", () => {
  const keys = [...new Set(RECORDED.flatMap(({ payload }) => Object.keys(payload)))];
  const values = RECORDED.flatMap(({ payload }) => Object.values(payload));
  const some = fc.dictionary(
    fc.constantFrom(...keys),
    fc.oneof(fc.constantFrom(...values), fc.jsonValue()),
  );
  fc.assert(
    fc.property(some, (payload) => {
      for (const { read } of AGENTS.values()) read(payload);
    }),
    { numRuns: 1_000 },
  );
});

test("the long name of a tool is read at once", () => {
  const start = process.cpuUsage();
  const { capability } = toolUse("x", `mcp__${"_".repeat(100_000)}\n`, undefined);
  const { user, system } = process.cpuUsage(start);
  assert.equal(capability?.length, "mcp/_/".length + 100_000 - 2);
  // A pattern that takes the square of the length takes half a minute.
  assert.ok(user + system < 1_000_000, `${user + system} µs`);
});

test("a word of many quotes is quoted fast", () => {
  assert.equal(quotedWord("it's"), String.raw`'it'\''s'`);
  const start = process.cpuUsage();
  quotedWord("a'".repeat(1 << 23));
  const { user, system } = process.cpuUsage(start);
  assert.ok(user + system < 900_000, `${user + system} µs`);
});
