/**
 * Node accepts one connection in each event loop turn. If long work ran in every turn, the hundredth of some
 * connections that arrive together would wait for a hundred slices or answers, however small its own request. So
 * long work lets a few turns pass in which connections arrive. The state belongs to the thread, as its event
 * loop does.
 */
import { setImmediate } from "./timers.ts";

/** Long work waits for this many turns at most: a flood of connections must not stop it. */
const MOST_TURNS = 8;

/** The connections that arrived in this turn and the last one. */
let recent = 0;

/** States that a connection arrived. */
export function connectionArrived(): void {
  recent++;
  setImmediate(() => setImmediate(() => recent--));
}

/** Calls a task in a later turn: in the first one without new connections, or after eight of them. */
export function onQuietTurn(task: () => void, turns = MOST_TURNS): void {
  setImmediate(() => {
    if (recent > 0 && turns > 1) onQuietTurn(task, turns - 1);
    else task();
  });
}
