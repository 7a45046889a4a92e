import { write } from "node:fs";
import { clearTimeout, setImmediate, setTimeout } from "./timers.ts";

const MAX_PENDING = 1 << 20; // 1 MiB of text
const MAX_WRITE = 1 << 16; // the size of a pipe's buffer: a write ends, and shows progress, even if the reader is slow
const PATIENCE_MS = 1_000;

/** The destination of log lines: never waits for the reader, and can be flushed at the end. */
export interface LogWriter {
  write(line: string): void;
  /** Resolves when everything was written, or when the reader has taken nothing for a second. */
  flush(): Promise<void>;
}

/**
 * Writes lines to a file descriptor without stalling the caller. `process.stderr` is synchronous on
 * a pipe, so a reader that stops would stop the service. Here one write at a time runs off the
 * event loop, and new lines wait in memory. At 1 MiB of waiting text further lines are dropped, and a
 * later line reports their number.
 */
export function createLogWriter(descriptor: number): LogWriter {
  let pending = "";
  let dropped = 0;
  let writing = false;
  const flushes = new Set<{ readonly timer: NodeJS.Timeout; readonly end: () => void }>();

  const next = (): void => {
    if (dropped > 0 && pending.length < MAX_PENDING / 2) {
      pending += `${JSON.stringify({ level: "warn", message: "log lines were dropped", dropped })}\n`;
      dropped = 0;
    }
    if (pending === "") {
      writing = false;
      for (const { end } of flushes) end();
      return;
    }
    const bytes = Buffer.from(pending, "utf8");
    pending = "";
    put(bytes);
  };
  const put = (bytes: Buffer): void => {
    write(descriptor, bytes, 0, Math.min(bytes.length, MAX_WRITE), null, (error, written) => {
      if (!error) for (const { timer } of flushes) timer.refresh();
      // EAGAIN: the other end is a full, non-blocking pipe. Any other error cannot be reported.
      if (error?.code === "EAGAIN") setTimeout(put, 20, bytes).unref();
      else if (!error && written < bytes.length) put(bytes.subarray(written));
      else next();
    });
  };

  return {
    write(line) {
      if (pending.length + line.length > MAX_PENDING) {
        dropped++;
        return;
      }
      pending += line;
      if (!writing) {
        writing = true;
        setImmediate(next);
      }
    },
    flush() {
      if (!writing) return Promise.resolve();
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(flush.timer);
          flushes.delete(flush);
          resolve();
        };
        const flush = { timer: setTimeout(end, PATIENCE_MS), end };
        flushes.add(flush);
      });
    },
  };
}
