import { Unavailable } from "../../core/errors.ts";
import { FairShare, type Party } from "../../core/scheduling/fair-share.ts";

/** The runtimes of a slice, and their `last_seen` at the moment of the list, as arrays of SQL: rows take six times the memory. */
export interface Slice {
  readonly names: string;
  readonly seen: string;
}

/** The most memory of the slices that are still to be read, of all lists together. */
const MOST_BYTES = 64 << 20;

/**
 * Keeps the slices of lists under way. Clients divide the room: where it is used up, the one with the most in it loses its
 * newest list. Runtimes choose their names: sixteen lists of 25,000 long ones took over a gigabyte, with readers that took
 * their time.
 */
export class ListRoom {
  readonly #shares = new FairShare<Slice[]>();

  /**
   * Gives the slices of a list one after another, and drops each. Takes them out of the given array, so that a list
   * that loses its room takes no more memory.
   *
   * @throws Unavailable when there is no room for this client, or no longer
   */
  *take(party: Party, slices: Slice[]): Generator<Slice, void> {
    const holding = this.#shares.hold(party, slices);
    try {
      const bytes = slices.reduce((sum, slice) => sum + bytesOf(slice), 0);
      // A longer list than this may exceed the limit, or it could never be read.
      const wanted = Math.min(bytes, MOST_BYTES / 2);
      if (!this.#shares.makeRoom(holding, wanted, MOST_BYTES, drop)) throw tooMany();
      holding.set(bytes);
      for (let left = slices.length; left > 0; left--) {
        const next = slices.shift();
        if (next === undefined) throw tooMany();
        holding.set(holding.amount - bytesOf(next));
        yield next;
      }
    } finally {
      holding.close();
    }
  }
}

function drop(slices: Slice[]): void {
  slices.length = 0;
}

/** A string takes two bytes a character once one of its characters does not fit into a byte. */
function bytesOf({ names, seen }: Slice): number {
  return names.length * (/[^\0-\xFF]/.test(names) ? 2 : 1) + seen.length;
}

function tooMany(): Unavailable {
  return new Unavailable("Too many long lists of runtimes are being read: try again", 2);
}
