/** A filter in the terms of the engine, made once and asked of one segment after another. */
import type { AuditFilter } from "../../../../audit/store.ts";
import { CachedMatches, type SearchCache } from "./search-cache.ts";
import { FILTERS, packedFacetsWith, POLICY, STATUS } from "../index/fields.ts";
import { bitsOf } from "../index/trigrams.ts";

/** As much as a piece of text needs with the pages at its ends. */
const ROOM_BYTES = 512 << 10;

/** A text to be found in any letter case. */
export interface TextQuery {
  readonly needle: Buffer;
  /** The bits that a trigram filter must have. */
  readonly bits: Uint16Array;
  readonly found: CachedMatches;
  /**
   * Takes the texts that are searched, piece by piece: with a new buffer for each piece the garbage collector
   * would take most of a search.
   */
  readonly room: Buffer;
}

/** A filter in the terms of every segment. */
export interface SegmentQuery {
  readonly from: number;
  readonly to: number;
  /** Fields and the values that they must have. */
  readonly wanted: readonly { readonly field: number; readonly value: string }[];
  /** By packed facet, 1 where it matches; `undefined` when all do. */
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
  const wanted = FILTERS.flatMap((name, field) => {
    const value = name && filter[name];
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

/** Whether a field is one of the facets that rows are counted by in combination. */
export function isFacet(field: number): boolean {
  return field === STATUS || field === POLICY;
}
