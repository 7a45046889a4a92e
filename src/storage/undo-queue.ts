import { recheckAsker } from "../core/change-asker.ts";
import { Unavailable } from "../core/errors.ts";
import { Queue } from "../core/scheduling/queue.ts";

type Task<T> = () => Promise<T>;

/**
 * Runs tasks one after another, and restores the disk to the state in memory after a failed write. A failed write may
 * still have taken effect (the rename was done, but the directory was not synced), and would reappear at the next
 * start. So it is undone before the next task, which fails as long as the undo fails.
 */
export class UndoQueue {
  readonly #queue = new Queue();
  #undoing: Task<void>[] = [];
  #failure: unknown;
  #isClosed = false;

  /** The error of the last write, until the write is undone; `undefined` if nothing has to be undone. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Retries to undo the failed write. */
  recover(): void {
    if (this.#failure !== undefined) this.run(async () => {}).catch(() => {});
  }

  /**
   * Runs a task after all earlier ones have ended and all failed writes are undone.
   *
   * @throws Unavailable after `close`: the directory may belong to another service by then; or the refusal if the
   *   credentials of the client have ended meanwhile
   */
  run<T>(task: Task<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Unavailable("The service is stopping", 1));
    return this.#queue.run(async () => {
      await this.#undo();
      await recheckAsker();
      return task();
    });
  }

  /** Runs a write within a task; if it fails, `undo` is kept for later. */
  async write(write: Task<void>, undo: Task<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#undoing.push(undo);
      this.#failure = error;
      throw error;
    }
  }

  /** Refuses further tasks. Resolves when all added ones have ended, after a last attempt to undo failed writes. */
  close(): Promise<void> {
    this.recover();
    this.#isClosed = true;
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
