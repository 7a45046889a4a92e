import { readSync } from "node:fs";
import { printableLines } from "../core/printable.ts";
import { isObject } from "../core/validate.ts";
import type { Ruling } from "./decide.ts";
import { Guard, type Machine } from "./machine.ts";
import { AGENTS, type Agent } from "./payloads.ts";

/** The longest payload. */
const MAX_PAYLOAD_BYTES = 10 << 20;

/** Byte order marks. Cursor on Windows sends one or two of them. */
const MARKS = /^\uFEFF+/;
const CHUNK_BYTES = 64 << 10;
const WAIT_MS = 2;
/** The exit code that tells agents of a refusal; the reason is on the standard error. */
const REFUSED = 2;

/**
 * Answers the hook of an agent: reads its payload on the standard input, decides, and refuses in the agent's own form.
 * To allow something, it prints nothing if the agent takes that, so that the agent's own rules still apply.
 *
 * @returns the exit code
 */
export async function runHook(name: string, machine: Machine): Promise<number> {
  const agent = AGENTS.get(name);
  if (!agent) {
    const known = [...AGENTS.keys()].join(", ");
    machine.error(`signalbox guard hook: "${name}" is not an agent; there are ${known}\n`);
    return 1; // no agent takes this exit code as a refusal
  }
  const guard = new Guard(machine);
  const ruling = rulingOn(guard, name, agent);
  await guard.startSync();
  return answer(agent, ruling, guard.settings.failsClosed, machine);
}

function rulingOn(guard: Guard, name: string, agent: Agent): Ruling {
  const payload = readPayload();
  if (payload.length > MAX_PAYLOAD_BYTES)
    return guard.undecided(name, "the payload is over 10 MiB");
  let parsed: unknown;
  try {
    parsed = JSON.parse(payload.toString("utf8").replace(MARKS, ""));
  } catch {
    const why = payload.length === 0 ? "there is no payload" : "the payload is not JSON";
    return guard.undecided(name, why);
  }
  const attempt = isObject(parsed) ? agent.read(parsed) : undefined;
  if (!attempt) return guard.undecided(name, `the payload is not a known event of ${name}`);
  return guard.decide(attempt);
}

function answer(
  { denial, permission }: Agent,
  { refusal }: Ruling,
  failsClosed: boolean,
  machine: Machine,
): number {
  if (refusal === undefined) {
    if (permission && failsClosed) machine.out(`${JSON.stringify(permission)}\n`);
    return 0;
  }
  const sentence = printableLines(`Denied by Signalbox: ${refusal}`);
  if (denial === "exit") {
    machine.error(`${sentence}\n`);
    return REFUSED;
  }
  machine.out(`${JSON.stringify(denial(sentence))}\n`);
  return 0;
}

/** Reads the standard input, up to one byte more than the longest payload. */
function readPayload(): Buffer {
  const chunks: Buffer[] = [];
  for (let length = 0; length <= MAX_PAYLOAD_BYTES;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const read = readChunk(chunk);
    if (read === 0) break;
    chunks.push(chunk.subarray(0, read));
    length += read;
  }
  return Buffer.concat(chunks);
}

/** Reads a piece of the standard input; 0 at its end, and if there is no standard input. */
function readChunk(chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(0, chunk);
    } catch (error) {
      // EAGAIN: another process has made the pipe non-blocking, and it is still empty.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return 0;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
}
