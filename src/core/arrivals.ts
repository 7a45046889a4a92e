/**
 * Node accepts one connection in each turn of the event loop. If long work ran in every turn, the last of a
 * hundred simultaneous connections would wait for a hundred slices, even for a small request. So long work
 * pauses for a few turns while connections arrive. Each thread has its own state, as it has its own event loop.
 */
import { setImmediate } from "./timers.ts";

/** The most turns for which long work waits: a flood of connections must not stop it. */
const MOST_TURNS = 8;

/** The number of connections that arrived in this turn and the previous one. */
let recent = 0;

/** Records that a connection arrived. */
export function connectionArrived(): void {
  recent++;
  setImmediate(() => setImmediate(() => recent--));
}

/** Whether connections arrived in this turn or the previous one. */
export function areArriving(): boolean {
  return recent > 0;
}

/** Calls a task in the next turn without new connections, but after eight turns at the latest. */
export function onQuietTurn(task: () => void, turns = MOST_TURNS): void {
  setImmediate(() => {
    if (recent > 0 && turns > 1) onQuietTurn(task, turns - 1);
    else task();
  });
}
