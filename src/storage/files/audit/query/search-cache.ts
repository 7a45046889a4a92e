/**
 * Caches the matches of text searches, so that the next page of a search does not search again. A sealed
 * segment never changes, so its matches stay valid; the active segment is always searched. The cache is
 * shared by all organizations, is bounded in bytes, and drops the searches that were used longest ago.
 */
import type { RowSet } from "../index/row-set.ts";
import type { SegmentIndex } from "../index/segment-index.ts";

const MAX_BYTES = 16 << 20;
/** About the size of a search without matches, apart from its text. */
const ENTRY_BYTES = 512;

/** The matches of one search, by segment. */
export class CachedMatches {
  // Weak, so that an index that retention or damage drops takes its matches along.
  readonly #sets = new WeakMap<SegmentIndex, RowSet>();
  readonly #grew: (found: CachedMatches, bytes: number) => void;
  bytes = ENTRY_BYTES;

  constructor(grew: (found: CachedMatches, bytes: number) => void = () => {}) {
    this.#grew = grew;
  }

  in(index: SegmentIndex): RowSet | undefined {
    return this.#sets.get(index);
  }

  keep(index: SegmentIndex, rows: RowSet): void {
    this.#sets.set(index, rows);
    this.bytes += rows.bytes;
    this.#grew(this, rows.bytes);
  }
}

/** The searches that were used last. */
export class SearchCache {
  readonly #limit: number;
  readonly #searches = new Map<string, CachedMatches>(); // the one that was asked for last comes last
  #bytes = 0;

  constructor(limit = MAX_BYTES) {
    this.#limit = limit;
  }

  /** What an organization's search for a text, in lower case, has found so far. */
  of(organization: string, text: string): CachedMatches {
    const key = `${organization} ${text}`;
    const known = this.#searches.get(key);
    if (known !== undefined) {
      this.#searches.delete(key);
      this.#searches.set(key, known);
      return known;
    }
    const found = new CachedMatches((one, bytes) => {
      if (this.#searches.get(key) === one) this.#add(bytes); // a search that was forgotten goes on
    });
    found.bytes += 2 * key.length;
    this.#searches.set(key, found);
    this.#add(found.bytes);
    return found;
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    for (const [key, found] of this.#searches) {
      if (this.#bytes <= this.#limit) return;
      this.#searches.delete(key);
      this.#bytes -= found.bytes;
    }
  }
}
