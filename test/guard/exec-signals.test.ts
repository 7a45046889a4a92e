/** The signals that reach a command behind `guard exec`. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { newMachine, type GuardMachine } from "./guard-process.ts";

/** Makes a terminal, as util-linux has it. */
const SCRIPT = "/usr/bin/script";
const INTERRUPT = "\u0003";

/** Counts interrupts until it is terminated, and exits with their number. Signals that came with the last one count. */
const COUNTING = `
  let count = 0;
  process.on("SIGINT", () => console.log("interrupted", ++count));
  process.on("SIGTERM", () => setImmediate(() => setImmediate(() => process.exit(count))));
  setInterval(() => {}, 1000);
  console.log("guard", process.ppid, "ready");
`;

/** Runs the counting command behind the guard, as the arguments of a program, if one is given. */
function launch(machine: GuardMachine, terminal: boolean): ChildProcess {
  const words = [process.execPath, machine.program, "exec", "--", process.execPath, "-e", COUNTING];
  const line = `exec ${words.map((word) => `'${word}'`).join(" ")}`; // a shell would end by the interrupt
  const [file = "", ...args] = terminal ? [SCRIPT, "-qec", line, "/dev/null"] : words;
  return spawn(file, args, {
    env: { ...machine.env, RUNTIME_PORTAL_ENABLED: "false" },
    stdio: ["pipe", "pipe", "inherit"],
    detached: true, // without the terminal of the test, if it has one
  });
}

/** Collects what a process prints; resolves with the match once a pattern is found. */
function reader(child: ChildProcess): (pattern: RegExp) => Promise<RegExpExecArray> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => (text += part));
  return async (pattern) => {
    for (let found = pattern.exec(text); ; found = pattern.exec(text)) {
      if (found) return found;
      if (child.stdout) await once(child.stdout, "data");
    }
  };
}

test(
  "an interrupt from the terminal reaches the command once",
  { skip: existsSync(SCRIPT) ? false : `there is no ${SCRIPT}` },
  async (t) => {
    const child = launch(await newMachine(t), true);
    t.after(() => child.kill("SIGKILL"));
    const printed = reader(child);
    const [, guard] = await printed(/guard (\d+) ready/);
    child.stdin?.write(INTERRUPT);
    await printed(/interrupted 1/);
    process.kill(Number(guard), "SIGTERM");
    assert.deepEqual(await once(child, "exit"), [1, null]);
  },
);

test("an interrupt that only the guard gets is passed on where there is no terminal", async (t) => {
  const child = launch(await newMachine(t), false);
  t.after(() => child.kill("SIGKILL"));
  const printed = reader(child);
  await printed(/guard \d+ ready/);
  child.kill("SIGINT");
  await printed(/interrupted 1/);
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [1, null]);
});
