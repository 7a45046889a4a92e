import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { test, type TestContext } from "node:test";
import type { ReadStream } from "node:tty";
import { fileURLToPath } from "node:url";
import { readPassword } from "../../src/cli/password-prompt.ts";
import { newDirectory } from "../support/server-process.ts";

const PASSWORD = "typed and not shown";

/** A terminal with a user who types; `isRaw` tells whether the program has switched the echo off. */
class TypedTerminal extends PassThrough {
  readonly isTTY = true;
  isRaw = false;

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    return this;
  }
}

async function ask(...typed: readonly string[]) {
  const terminal = new TypedTerminal();
  let shown = "";
  const show = (text: string): void => {
    if (text === "Password: ") assert.ok(terminal.isRaw, "what is typed would be shown");
    shown += text;
  };
  const reading = readPassword(terminal as unknown as ReadStream, show, "Password: ");
  for (const text of typed) terminal.write(text);
  const result = await reading.catch((error: Error) => error);
  assert.equal(terminal.isRaw, false, "the terminal is as it was");
  return { result, shown };
}

test("the input is read up to Enter, and never shown", async () => {
  for (const enter of ["\r", "\n", "\u0004"]) {
    const { result, shown } = await ask("a pass", `word${enter}`, "and what follows");
    assert.deepEqual([result, shown], ["a password", "Password: \n"]);
  }
});

test("backspace erases the last character of any kind, and does nothing on empty input", async () => {
  assert.equal((await ask("\u007fpä\u007fa\ud83d\udd11\u007fsz\bs\r")).result, "pass");
});

test("empty input is refused, and Ctrl-C ends the prompt", async () => {
  for (const [typed, message] of [
    ["\r", /No password was given/],
    ["half\u0003", /^Interrupted$/],
  ] as const) {
    const { result, shown } = await ask(typed);
    assert.ok(result instanceof Error);
    assert.match(result.message, message);
    assert.equal(shown, "Password: \n");
  }
});

/** Runs `user add` in a pseudo-terminal, types at the prompt, and returns the code and all output. */
async function atTerminal(t: TestContext, dataDir: string, typed: string) {
  const program = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
  const add = "user add --email ada@example.com --role viewer";
  const command = `"${process.execPath}" "${program}" ${add} --data "${dataDir}"`;
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    env: { ...process.env, SHELL: "/bin/sh" },
  });
  t.after(() => child.kill("SIGKILL"));
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (shown.includes("Password for")) return void (shown += text);
    shown += text;
    if (shown.includes("Password for")) child.stdin.write(typed);
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, shown };
}

test("at a real terminal a user is created, and the password is not on the screen", async (t) => {
  try {
    execFileSync("script", ["-qec", "true", "/dev/null"], { stdio: "pipe" });
  } catch {
    return t.skip("There is no `script` of util-linux here");
  }
  const dataDir = await newDirectory(t);
  const refused = await atTerminal(t, dataDir, "half\u0003");
  assert.equal(refused.code, 1, refused.shown);
  assert.match(refused.shown, /user add: Interrupted/);
  const { code, shown } = await atTerminal(t, dataDir, `${PASSWORD}\r`);
  assert.equal(code, 0, shown);
  assert.match(shown, /^Password for ada@example\.com: \r?\n+Created viewer ada@example\.com/);
  assert.ok(!shown.includes(PASSWORD));
});
