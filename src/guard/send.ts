import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { jsonOrUndefined } from "../core/json/json.ts";
import { isObject } from "../core/validate.ts";
import { readRegular } from "./regular-file.ts";
import { replaceFile } from "./replace-file.ts";
import type { Service } from "./service.ts";
import { MAX_SPOOL_FILE_BYTES, SPOOL_FILES, type SpooledEvent } from "./spool.ts";

const BATCH_EVENTS = 1_000;
const BATCH_CHARACTERS = 1 << 20;

/** The result of sending the spool. */
export interface Sent {
  readonly sent: number;
  /** The number of events that the service refuses as invalid, and of damaged lines. */
  readonly dropped: number;
  /** The reason why the remaining events stay in the spool: the service cannot take them now. */
  readonly failure?: Error;
}

/**
 * Sends everything in the spool, oldest first. Events are removed once the service has stored them.
 *
 * @param renew is called before a file is read or changed; throws when the spool is another process's
 */
export async function sendSpool(
  directory: string,
  service: Service,
  renew: () => void,
): Promise<Sent> {
  const [sending, ...others] = SPOOL_FILES.map((name) => join(directory, name));
  const total = { sent: 0, dropped: 0 };
  if (sending === undefined) return total;
  try {
    for (const path of [sending, ...others]) {
      if (!existsSync(path)) continue;
      renew();
      if (path !== sending) renameSync(path, sending);
      await sendFile(sending, service, renew, total);
    }
  } catch (error) {
    return { ...total, failure: error as Error }; // what was dropped until then must be reported too
  }
  return total;
}

interface Total {
  sent: number;
  dropped: number;
}

async function sendFile(
  path: string,
  service: Service,
  renew: () => void,
  total: Total,
): Promise<void> {
  if (statSync(path).size > MAX_SPOOL_FILE_BYTES) {
    total.dropped++; // damaged as a whole, and it would stop all sending
    rmSync(path);
    return;
  }
  const lines = readRegular(path, MAX_SPOOL_FILE_BYTES).split("\n");
  const events = lines.flatMap((line) => eventIn(line) ?? []);
  const damaged = lines.filter((line) => line !== "").length - events.length;
  total.dropped += damaged;
  for (let at = 0; at < events.length;) {
    let end = at;
    for (let length = 0; end < events.length && end - at < BATCH_EVENTS; end++) {
      length += JSON.stringify(events[end]).length;
      if (length > BATCH_CHARACTERS && end > at) break;
    }
    try {
      await sendBatch(events.slice(at, end), service, total);
    } catch (error) {
      renew();
      if (at + damaged > 0) keepOnly(events.slice(at), path);
      throw error;
    }
    renew();
    at = end;
  }
  rmSync(path, { force: true });
}

/** Removes what was sent or dropped. If the disk is full, all remain: the service stores each once. */
function keepOnly(events: readonly SpooledEvent[], path: string): void {
  try {
    replaceFile(path, events.map((event) => `${JSON.stringify(event)}\n`).join(""), 0o600);
  } catch {
    // They are sent again.
  }
}

function eventIn(line: string): SpooledEvent | undefined {
  try {
    const event: unknown = JSON.parse(line);
    if (!isObject(event) || !("id" in event)) return undefined;
    // The guard writes no lists and objects. Deep ones would overflow the stack each time they are sent.
    const isFlat = Object.values(event).every((value) => !isObject(value) && !Array.isArray(value));
    return isFlat ? (event as unknown as SpooledEvent) : undefined;
  } catch {
    return undefined;
  }
}

/** The service names the event that it refuses, as in `events[3].command: expected a string`. */
const NAMED_EVENT = /^events\b/;

/**
 * Whether an answer is the service's own, about an event. A proxy answers 400 to whatever it gets, as to a request
 * without TLS, and often with an `error` in JSON. The events would all be lost.
 */
function isOfService(text: string): boolean {
  const answer = jsonOrUndefined(text);
  if (!isObject(answer)) return false;
  const { error } = answer;
  // Others have an `error` too, beside a `status` or a `path`.
  return typeof error === "string" && NAMED_EVENT.test(error) && Object.keys(answer).length === 1;
}

/** Sends a batch. A refused batch is halved until the invalid event is found. */
async function sendBatch(
  events: readonly SpooledEvent[],
  service: Service,
  total: Total,
): Promise<void> {
  const { status, text } = await service.post("/audit", { events });
  // A page to sign in to a network may be a 202 as well.
  if (status === 202 && text.includes('"accepted"')) {
    total.sent += events.length;
    return;
  }
  const isRefusal = status === 413 || (status === 400 && isOfService(text));
  if (!isRefusal) throw new Error(`the service answered ${status} to events`);
  if (events.length === 1) {
    total.dropped++;
    return;
  }
  const half = events.length >> 1;
  await sendBatch(events.slice(0, half), service, total);
  await sendBatch(events.slice(half), service, total);
}
