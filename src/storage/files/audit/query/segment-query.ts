/**
 * A filter in the terms of the engine, made once and applied to one segment after another; and the cache of
 * text searches, so that the next page of a search does not search again. A sealed segment never changes, so
 * its matches stay valid; the active segment is always searched. The cache is shared by all organizations, is
 * bounded in bytes, and drops the least recently used searches.
 */
import type { AuditFilter } from "../../../../audit/store.ts";
import { CODED_FIELDS, packedFacetsWith, type CodedName } from "../index/fields.ts";
import { bitsOf } from "../index/trigrams.ts";
import type { RowSet } from "../index/row-set.ts";
import type { SegmentIndex } from "../index/segment-index.ts";

/** The size of a piece of text with the pages at its ends. */
const ROOM_BYTES = 512 << 10;

/** A text to find, in any letter case. */
export interface TextQuery {
  readonly needle: Buffer;
  /** The bits that a trigram filter must have. */
  readonly bits: Uint16Array;
  readonly found: CachedMatches;
  /**
   * The buffer for the searched texts, piece by piece: with a new buffer for each piece, garbage collection
   * would take most of the time of a search.
   */
  readonly room: Buffer;
}

/** A filter in the terms of every segment. */
export interface SegmentQuery {
  readonly from: number;
  readonly to: number;
  /** Fields and the values that they must have. */
  readonly wanted: readonly { readonly field: CodedName; readonly value: string }[];
  /** By packed facet, 1 if it matches; `undefined` if all do. */
  readonly facets: Uint8Array | undefined;
  readonly trace: string | undefined;
  readonly text: TextQuery | undefined;
}

/** Makes the query of a filter; `found` caches the matches of an organization's searches. */
export function segmentQuery(
  filter: AuditFilter,
  organization?: string,
  found?: SearchCache,
): SegmentQuery {
  const { q } = filter;
  const wanted = CODED_FIELDS.flatMap(({ name: field, filter: parameter }) => {
    const value = parameter && filter[parameter];
    return value === undefined ? [] : [{ field, value }];
  });
  return {
    from: filter.from ?? -Infinity,
    to: filter.to ?? Infinity,
    wanted,
    facets: packedFacetsWith(filter.decision, filter.consumer),
    trace: filter.trace_id,
    text: q === undefined || q === "" ? undefined : textQuery(q, organization, found),
  };
}

function textQuery(q: string, organization = "", found?: SearchCache): TextQuery {
  const lower = q.toLowerCase();
  const needle = Buffer.from(lower, "utf8");
  return {
    needle,
    bits: bitsOf(needle),
    found: found?.of(organization, lower) ?? new CachedMatches(),
    room: Buffer.allocUnsafeSlow(ROOM_BYTES),
  };
}

const MAX_BYTES = 16 << 20;
/** The approximate size of a search without matches, apart from its text. */
const ENTRY_BYTES = 512;

/** The matches of one search, by segment. */
export class CachedMatches {
  // Weak, so that an index that is dropped by retention or damage takes its matches along.
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

/** The most recently used searches. */
export class SearchCache {
  readonly #limit: number;
  readonly #searches = new Map<string, CachedMatches>(); // the most recently used one comes last
  #bytes = 0;

  constructor(limit = MAX_BYTES) {
    this.#limit = limit;
  }

  /** The matches found so far by an organization's search for a text, which is in lower case. */
  of(organization: string, text: string): CachedMatches {
    const key = `${organization} ${text}`;
    const known = this.#searches.get(key);
    if (known !== undefined) {
      this.#searches.delete(key);
      this.#searches.set(key, known);
      return known;
    }
    const found = new CachedMatches((one, bytes) => {
      if (this.#searches.get(key) === one) this.#add(bytes); // a dropped search may still be running
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
