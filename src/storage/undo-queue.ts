import { Queue } from "./queue.ts";

type Task<T> = () => Promise<T>;

/**
 * Runs tasks one after another, and brings the disk back to what memory knows after a write that
 * failed. Such a write may have happened all the same (a rename that was done, a directory that was
 * not synced), and would come to life at the next start. So its undoing comes before the next task,
 * which fails as long as that does.
 */
export class UndoQueue {
  readonly #queue = new Queue();
  #undoing: Task<void>[] = [];
  #failure: unknown;

  /** Why the last write failed, until it is undone; `undefined` while there is nothing to undo. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Tries to undo what failed. */
  recover(): void {
    if (this.#failure !== undefined) this.run(async () => {}).catch(() => {});
  }

  /** Runs a task when all earlier ones have ended and all failed writes are undone. */
  run<T>(task: Task<T>): Promise<T> {
    return this.#queue.run(async () => {
      await this.#undo();
      return task();
    });
  }

  /** Does a write from within a task; `undo` is kept for later if it fails. */
  async write(write: Task<void>, undo: Task<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#undoing.push(undo);
      this.#failure = error;
      throw error;
    }
  }

  /** Resolves when everything that was given has ended, after a last try to undo what failed. */
  close(): Promise<void> {
    this.recover();
    return this.#queue.idle();
  }

  async #undo(): Promise<void> {
    try {
      for (let undo = this.#undoing[0]; undo; undo = this.#undoing[0]) {
        await undo();
        this.#undoing.shift();
      }
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}
