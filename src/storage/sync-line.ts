/**
 * By default Node has four threads for the operations on files of the whole process. On a slow disk a sync holds one of
 * them for seconds, and reads wait for them too. So one thread is left free of syncs; with more threads
 * (`UV_THREADPOOL_SIZE`), more are.
 */
const MOST_SYNCS = 3;

/** Starts a sync, and calls `done` once it has ended. */
type Sync = (done: (error: Error | null) => void) => void;

let running = 0;
const waiting: (() => void)[] = [];

/** Runs a sync when it is its turn. */
export function inSyncLine(sync: Sync, done: (error: Error | null) => void): void {
  const start = (): void => {
    running++;
    sync((error) => {
      running--;
      waiting.shift()?.();
      done(error);
    });
  };
  if (running < MOST_SYNCS) start();
  else waiting.push(start);
}
