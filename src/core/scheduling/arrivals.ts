/**
 * Node accepts one connection in each turn of the event loop. If long work ran in every turn, the last of a
 * hundred simultaneous connections would wait for a hundred slices, even for a small request. So long work
 * pauses for a few turns while connections arrive. Each thread has its own state, as it has its own event loop.
 */
import { setImmediate } from "../timers.ts";

/** The most turns for which work waits: a flood of connections must not stop it. */
const MOST_TURNS = 8;

/** RecentArrivals of one kind, and work that waits for a turn of the event loop without them. */
export class RecentArrivals {
  /** The number of those in this turn and the previous one. */
  #recent = 0;

  /** Records an arrival. */
  add(): void {
    this.#recent++;
    setImmediate(() => setImmediate(() => this.#recent--));
  }

  /** Whether there were any in this turn or the previous one. */
  get areRecent(): boolean {
    return this.#recent > 0;
  }

  /** Calls a task in the next turn without arrivals, but after eight turns at the latest. */
  onQuietTurn(task: () => void, turns = MOST_TURNS): void {
    setImmediate(() => {
      if (this.#recent > 0 && turns > 1) this.onQuietTurn(task, turns - 1);
      else task();
    });
  }
}

const connections = new RecentArrivals();

/** Records that a connection arrived, or that the first bytes of one that waited are to be read. */
export function connectionArrived(): void {
  connections.add();
}

/** Whether connections arrived in this turn or the previous one. */
export function areArriving(): boolean {
  return connections.areRecent;
}

/** Calls a task in the next turn without new connections, but after eight turns at the latest. */
export function onQuietTurn(task: () => void, turns = MOST_TURNS): void {
  connections.onQuietTurn(task, turns);
}
