/** The lock of the guard's processes, which another process may have left behind. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { HALF_SPOOL_BYTES } from "../../src/guard/spool.ts";
import { type Scope, start } from "../support/start.ts";
import { type GuardMachine, type Launched, syncedMachine } from "./guard-process.ts";
import { RECORDED } from "./recorded-payloads.ts";

const app = await start({ after });
const yaml = `schema: signalbox/policy/v1
default: allow
rules: [{ id: no-push, effect: deny, match: { commands: [{ prefix: git push }] } }]
`;
await app.post("/api/public/policies", { version: "v1", yaml });

/** Holds a process before calls of `node:fs` on files of that name: it says so each time, and waits for a file. */
const HOLD = `
const fs = require("node:fs");
const [place, ...steps] = JSON.parse(process.env.HOLD);
for (const [i, [call, name]] of steps.entries()) {
  const own = fs[call];
  fs[call] = (path, ...more) => {
    if (String(path).endsWith(name)) {
      fs.writeFileSync(place + i, "");
      const waiting = new Int32Array(new SharedArrayBuffer(4));
      while (!fs.existsSync(place + i + ".go")) Atomics.wait(waiting, 0, 0, 5);
    }
    return own(path, ...more);
  };
}
`;

type Step = readonly [call: "renameSync" | "rmSync" | "statSync", name: string];

/** A guard that stops before steps until it may go on. */
class HeldGuard {
  readonly #place: string;
  readonly #launched: Launched;

  constructor(machine: GuardMachine, id: string, ...steps: readonly Step[]) {
    this.#place = join(machine.home, id);
    const hold = join(machine.home, "hold.cjs");
    writeFileSync(hold, HOLD);
    machine.env["NODE_OPTIONS"] = `--require ${hold}`;
    machine.env["HOLD"] = JSON.stringify([this.#place, ...steps]);
    this.#launched = machine.launch(["hook", "claude-code"], payload(id));
    delete machine.env["NODE_OPTIONS"];
  }

  /** Resolves when the guard is at a step, or has ended without it. */
  async reached(step: number): Promise<boolean> {
    const ended = this.#launched.ended.then(() => true);
    while (!existsSync(`${this.#place}${step}`)) {
      const pause = new Promise<false>((resolve) => setTimeout(resolve, 5, false));
      if (await Promise.race([ended, pause])) return false;
    }
    return true;
  }

  goOn(step: number): void {
    writeFileSync(`${this.#place}${step}.go`, "");
  }

  async end(): Promise<void> {
    await this.#launched.ended;
  }
}

function payload(id: string): string {
  const tool_input = { command: `ls ${id}` };
  return JSON.stringify({ ...RECORDED[0]?.payload, tool_input, tool_use_id: id });
}

async function withFullSpool(t: Scope): Promise<{ machine: GuardMachine; kept: () => string }> {
  const machine = await syncedMachine(t, app.url);
  const [older, current] = ["spool.older.jsonl", "spool.jsonl"].map((name) =>
    join(machine.directory, name),
  ) as [string, string];
  writeFileSync(older, '{"id":"old"}\n');
  writeFileSync(current, `{"id":"new","pad":"${"x".repeat(HALF_SPOOL_BYTES)}"}\n`);
  const kept = () =>
    [older, current].map((path) => (existsSync(path) ? readFileSync(path, "utf8") : "")).join("");
  return { machine, kept };
}

/** Lets a second guard take the lock while the first is about to remove it, and a third one report. */
async function overtake(machine: GuardMachine, first: HeldGuard, removal: number): Promise<void> {
  await first.reached(removal);
  const second = new HeldGuard(machine, "second", ["renameSync", "spool.jsonl"]);
  await second.reached(0);
  first.goOn(removal);
  await first.end();
  await machine.run(["hook", "claude-code"], payload("third"));
  second.goOn(0);
  await second.end();
}

function assertNoneLost(spooled: string): void {
  assert.match(spooled, /"id":"new"/);
  for (const id of ["first", "second", "third"]) assert.match(spooled, new RegExp(`"ls ${id}"`));
  assert.equal(spooled.match(/The spool was full/g)?.length, 1);
}

test("of two guards that find the lock of a killed one, one takes it", async (t) => {
  const { machine, kept } = await withFullSpool(t);
  const lock = join(machine.directory, "spool.lock");
  writeFileSync(lock, "999999999"); // more than any process id
  await overtake(machine, new HeldGuard(machine, "first", ["rmSync", "spool.lock"]), 0);
  assertNoneLost(kept());
  assert.ok(!existsSync(lock));
  assert.ok(!existsSync(`${lock}.takeover`));
});

test("a guard that finds a lock released does not remove that of the next one", async (t) => {
  const { machine, kept } = await withFullSpool(t);
  const lock = join(machine.directory, "spool.lock");
  writeFileSync(lock, String(process.pid));
  const steps: readonly Step[] = [
    ["statSync", "spool.lock"],
    ["rmSync", "spool.lock"],
  ];
  const first = new HeldGuard(machine, "first", ...steps);
  assert.ok(await first.reached(0));
  rmSync(lock);
  first.goOn(0);
  await overtake(machine, first, 1);
  assertNoneLost(kept());
});
