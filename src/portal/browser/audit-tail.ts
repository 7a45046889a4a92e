/**
 * Follows the stream of events with `fetch`, since an `EventSource` cannot send a token in a header.
 * A stream that ends, fails or falls silent is resumed where it stopped, after increasing pauses.
 */
import type { AuditEvent } from "../../audit/schema.ts";
import { ApiError } from "../pages/api-source.ts";
import type { TailState } from "../pages/audit-source.ts";
import type { AuditQuery } from "../pages/audit-view.ts";
import { messagesOf } from "./server-sent-events.ts";
import { open, reasonOf } from "./api.ts";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
const LONGEST_SILENCE_MS = 45_000; // a comment comes every 15 seconds

/** The callbacks of a stream. */
export interface TailListener {
  /** The stream has begun and does not resume another one: earlier events have to be read now. */
  readonly onBegin: () => void;
  readonly onEvents: (events: readonly AuditEvent[]) => void;
  readonly onState: (tail: TailState) => void;
}

/** Follows matching events until the signal is aborted or the service refuses for good. */
export async function followEvents(
  query: AuditQuery,
  listener: TailListener,
  signal: AbortSignal,
): Promise<void> {
  const stream = { query, listener, signal, position: "", failures: 0 };
  while (!signal.aborted) {
    listener.onState({ state: "connecting" });
    const reason = await readOnce(stream).catch((error: unknown) => error);
    if (signal.aborted) return;
    if (reason instanceof ApiError && reason.status >= 400 && reason.status < 500) {
      const isLost = reason.status === 400 && stream.position !== "";
      // The service does not know the position any more: begin again without one.
      if (isLost) stream.position = "";
      else if (reason.status !== 429) {
        return listener.onState({ state: "stopped", note: reason.message });
      }
    }
    const ms = Math.min(FIRST_WAIT_MS * 2 ** stream.failures, LONGEST_WAIT_MS);
    const why = reason === undefined ? "The stream ended" : reasonOf(reason);
    listener.onState({ state: "waiting", note: `${why}; again in ${Math.ceil(ms / 1_000)} s` });
    stream.failures++;
    await wait(ms, signal);
  }
}

interface Stream {
  readonly query: AuditQuery;
  readonly listener: TailListener;
  readonly signal: AbortSignal;
  /** The last position received; empty before the first one. */
  position: string;
  failures: number;
}

async function readOnce(stream: Stream): Promise<undefined> {
  const { query, listener, signal, position } = stream;
  const silence = new AbortController();
  const isOver = AbortSignal.any([signal, silence.signal]);
  let alarm = setTimeout(() => silence.abort(), LONGEST_SILENCE_MS);
  try {
    const headers = {
      Accept: "text/event-stream",
      ...(position === "" ? {} : { "Last-Event-ID": position }),
    };
    const options = { query, headers, signal: isOver, isEndless: true };
    const response = await open("GET", "/audit/stream", options);
    for await (const messages of messagesOf(response)) {
      clearTimeout(alarm);
      alarm = setTimeout(() => silence.abort(), LONGEST_SILENCE_MS);
      if (messages.length === 0) continue;
      listener.onState({ state: "live" });
      const isFirst = stream.position === "";
      [stream.position, stream.failures] = [messages.at(-1)?.id ?? "", 0];
      if (isFirst) listener.onBegin();
      const texts = messages.flatMap(({ data }) => data ?? []);
      if (texts.length > 0) listener.onEvents(texts.map((text) => JSON.parse(text) as AuditEvent));
    }
    return undefined;
  } catch (error) {
    if (silence.signal.aborted) throw new Error("The stream fell silent", { cause: error });
    throw error;
  } finally {
    clearTimeout(alarm);
    silence.abort();
  }
}

/** Waits for a time, or until the browser is online again. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}
