import { isSelected } from "../../core/assigned-version.ts";
import type { Assignee, OpenRollout } from "../../core/assignment.ts";
import { grown } from "./grown.ts";

const UNKNOWN = 0;
const OUTSIDE = 1;
const SELECTED = 2;
const FIRST_SIZE = 64;

/**
 * Caches which runtimes, by slot, the open rollout selects: a hash for each of 100,000 runtimes would hold the event loop
 * for a tenth of a second at each count.
 */
export class RolloutSelection {
  #rollout: OpenRollout | undefined;
  #known = new Uint8Array(FIRST_SIZE);

  /** Whether a rollout selects the runtime of a slot. */
  has(rollout: OpenRollout, slot: number, runtime: Assignee): boolean {
    if (this.#rollout !== rollout) {
      this.#rollout = rollout;
      this.#known.fill(UNKNOWN);
    }
    if (slot >= this.#known.length) this.#known = grown(this.#known, slot + 1);
    if (this.#known[slot] === UNKNOWN) {
      this.#known[slot] = isSelected(rollout, runtime) ? SELECTED : OUTSIDE;
    }
    return this.#known[slot] === SELECTED;
  }

  /** Forgets the runtime of a slot, after its labels changed or another runtime took the slot. */
  forget(slot: number): void {
    if (slot < this.#known.length) this.#known[slot] = UNKNOWN;
  }
}
