/** A filter in the terms of the engine, made once and applied to one segment after another. */
import { excluding, type ExactFilter } from "../../../../audit/event-fields.ts";
import type { AuditFilter } from "../../../../audit/store.ts";
import { wildcardTest } from "../../../../audit/wildcards.ts";
import { CODED_FIELDS, packedFacetsWith, type CodedName, type LongName } from "../index/fields.ts";
import { bitsOf, type SearchedText } from "../index/trigrams.ts";
import type { RowSet } from "../index/row-set.ts";
import { ByteCache } from "../../byte-cache.ts";

/** The size of a piece of text with the pages at its ends. */
const ROOM_BYTES = 512 << 10;

/** The short fields that `q` searches. */
const SEARCHED = CODED_FIELDS.filter(({ isSearched }) => isSearched).map(({ name }) => name);

/** A text to find, the fields that may contain it, and the cache of its matches. */
export interface TextQuery extends SearchedText {
  /** These are searched first. */
  readonly coded: readonly CodedName[];
  readonly long: LongName;
  /**
   * The matches in sealed segments, which never change: the next page of a search does not search again. All
   * organizations share the cache.
   */
  readonly found: ByteCache<RowSet>;
  /** The key of this search's matches in a segment. */
  readonly keyIn: (segment: number) => string;
}

/** A test of the values of a field. */
export interface WildcardQuery {
  readonly field: CodedName;
  readonly matches: (value: string) => boolean;
  /** Whether it leaves out the rows that it matches. */
  readonly isExcluded: boolean;
}

/** A filter in the terms of every segment. */
export interface SegmentQuery {
  readonly from: number;
  readonly to: number;
  /** Fields and the values that they must have. */
  readonly wanted: readonly { readonly field: CodedName; readonly value: string }[];
  /** Fields and the values that they must not have. */
  readonly unwanted: SegmentQuery["wanted"];
  /** The fields that are matched in part, and the tests of their values. */
  readonly wildcards: readonly WildcardQuery[];
  /** By packed facet, 1 if it matches; `undefined` if all do. */
  readonly facets: Uint8Array | undefined;
  readonly trace: string | undefined;
  /** A row must contain each of them. */
  readonly texts: readonly TextQuery[];
}

/** Makes the query of a filter; `found` caches the matches of searches. */
export function segmentQuery(
  filter: AuditFilter,
  organization = "",
  found = new ByteCache<RowSet>(0),
): SegmentQuery {
  const { q = "", reason = "" } = filter;
  const coded = (valueOf: (name: ExactFilter) => string | undefined): SegmentQuery["wanted"] =>
    CODED_FIELDS.flatMap(({ name: field, filter: parameter }) => {
      const value = parameter && valueOf(parameter);
      return value === undefined ? [] : [{ field, value }];
    });
  return {
    from: filter.from ?? -Infinity,
    to: filter.to ?? Infinity,
    wanted: coded((name) => filter[name]),
    unwanted: coded((name) => (name === "trace_id" ? undefined : filter[excluding(name)])),
    wildcards: (filter.wildcards ?? []).map(({ field, text, isExcluded }) => {
      return { field, matches: wildcardTest(text), isExcluded };
    }),
    facets: packedFacetsWith(filter),
    trace: filter.trace_id,
    texts: [
      ...(reason === "" ? [] : [textQuery(reason, [], "reason", organization, found)]),
      ...(q === "" ? [] : [textQuery(q, SEARCHED, "command", organization, found)]),
    ],
  };
}

function textQuery(
  text: string,
  coded: readonly CodedName[],
  long: LongName,
  organization: string,
  found: ByteCache<RowSet>,
): TextQuery {
  const lower = text.toLowerCase();
  const needle = Buffer.from(lower, "utf8");
  return {
    needle,
    bits: bitsOf(needle),
    found,
    coded,
    long,
    keyIn: (segment) => `${organization} ${segment} ${long} ${lower}`,
    room: Buffer.allocUnsafeSlow(ROOM_BYTES),
  };
}
