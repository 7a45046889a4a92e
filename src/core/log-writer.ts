import { write } from "node:fs";

const MAX_PENDING = 1 << 20; // 1 MiB of text

/** Where log lines go: never waits for the reader, and can be flushed at the end. */
export interface LogWriter {
  write(line: string): void;
  /** Resolves when everything was handed over, or after a second if the reader takes nothing. */
  flush(): Promise<void>;
}

/**
 * Writes lines to a descriptor without ever stalling the caller. `process.stderr` is synchronous on
 * a pipe, so a reader that stops would stop the service; here one write at a time is under way off
 * the event loop, lines that come meanwhile wait in memory, and when too many do, they are counted
 * and dropped, which a line then says.
 */
export function createLogWriter(descriptor: number): LogWriter {
  let pending = "";
  let dropped = 0;
  let writing = false;
  let idle: (() => void)[] = [];

  const next = (): void => {
    if (dropped > 0 && pending.length < MAX_PENDING / 2) {
      pending += `${JSON.stringify({ level: "warn", message: "log lines were dropped", dropped })}\n`;
      dropped = 0;
    }
    if (pending === "") {
      writing = false;
      for (const done of idle) done();
      idle = [];
      return;
    }
    const bytes = Buffer.from(pending, "utf8");
    pending = "";
    put(bytes);
  };
  const put = (bytes: Buffer): void => {
    write(descriptor, bytes, (error, written) => {
      // EAGAIN: the other end is a full, non-blocking pipe. Anything else: nobody is there to tell.
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
        const timer = setTimeout(resolve, 1_000);
        idle.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
}
