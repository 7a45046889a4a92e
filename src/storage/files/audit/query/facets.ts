/**
 * Counts the matching events by the values of fields. Rows are counted by code, in slices between which the event
 * loop serves requests; a sealed segment that matches as a whole has its counts already. Of each segment only
 * the most frequent codes are turned into texts, so the work is bounded however many values there are.
 */
import {
  FACET_FIELDS,
  mostFrequent,
  type FacetName,
  type ValueCount,
} from "../../../../audit/facets.ts";
import type { AuditFacets } from "../../../../audit/store.ts";
import { Yielder } from "../../../../core/scheduling/yielder.ts";
import type { SegmentedLog } from "../../../segmented-log.ts";
import {
  CONSUMERS,
  consumerOfFacets,
  DECISIONS,
  decisionOfFacets,
  PACKED_FACETS,
  type CodedName,
  type Column,
} from "../index/fields.ts";
import { readLine } from "../write/lines.ts";
import { FrequentTexts } from "./frequent-texts.ts";
import { greatest } from "./greatest.ts";
import type { SegmentQuery } from "./segment-query.ts";
import { rowAt, segmentViewOf, selectRows, type RowIds, type SegmentView } from "./select-rows.ts";
import { sliceOf, type SegmentIndex } from "../index/segment-index.ts";

const ROWS_AT_ONCE = 4_096;
/** The values of one segment that are compared, those with the most events. */
export const MOST_VALUES = 500;
/** The reasons of one segment that are counted, those with the most events: they are read from the log, line by line. */
export const MOST_REASONS = 30;
const LONGEST_LINE = 64 << 10;

/** Answers facets; see `AuditStore.facets`. */
export async function answerFacets(
  { log, organization }: { readonly log: SegmentedLog; readonly organization: string },
  indexes: readonly SegmentIndex[],
  query: SegmentQuery,
  most: number,
  signal: AbortSignal | undefined,
): Promise<AuditFacets> {
  const yielder = new Yielder(signal);
  const totals = new Map(FACET_FIELDS.map(([facet]) => [facet, new FrequentTexts()]));
  let counted = 0;
  for (const view of indexes.map(segmentViewOf)) {
    const rows = await selectRows(view, query, yielder);
    if (rows.length === 0) continue;
    counted += rows.length;
    const isWhole = view.index.isSealed && rows.length === view.rows;
    for (const [facet, field] of FACET_FIELDS) {
      const counts = totals.get(facet) as FrequentTexts;
      if (facet === "reason") await addReasons(counts, log, organization, view, rows, yielder);
      else if (facet !== "decision" && facet !== "consumer") {
        await addValues(counts, view, field as CodedName, isWhole ? undefined : rows, yielder);
      }
    }
    await addPacked(totals, view, isWhole ? undefined : rows, yielder);
  }
  const values = new Map<FacetName, readonly ValueCount[]>();
  for (const [facet, counts] of totals) {
    values.set(facet, mostFrequent(counts.counts, most));
    if (yielder.isDue) await yielder.step();
  }
  return { counted, isComplete: true, values };
}

/** Counts rows by their codes; `lastRows` gets a row of each code. */
async function countCodes(
  codes: Column,
  size: number,
  rows: RowIds,
  yielder: Yielder,
  lastRows?: Uint32Array,
): Promise<Uint32Array> {
  const counts = new Uint32Array(size + 1);
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const to = Math.min(rows.length, from + ROWS_AT_ONCE);
    for (let k = from; k < to; k++) {
      const row = rowAt(rows, k);
      const code = codes[row] as number;
      counts[code] = (counts[code] as number) + 1;
      if (lastRows !== undefined) lastRows[code] = row;
    }
    if (yielder.isDue) await yielder.step();
  }
  return counts;
}

/** Adds the values of a field; without `rows`, those of the whole segment. */
async function addValues(
  totals: FrequentTexts,
  { index }: SegmentView,
  field: CodedName,
  rows: RowIds | undefined,
  yielder: Yielder,
): Promise<void> {
  const { codes, dictionary, counts } = index.fields[field];
  const found = rows ? await countCodes(codes, dictionary.size, rows, yielder) : counts;
  for (const [code, events] of await greatest(withCode(found), MOST_VALUES, yielder)) {
    totals.add(await dictionary.listedValueOf(code), events);
  }
  if (yielder.isDue) await yielder.step();
}

/** The codes of values that occur, with their counts; 0 stands for no value. */
function* withCode(counts: Uint32Array): Generator<readonly [number, number]> {
  for (let code = 1; code < counts.length; code++) {
    const events = counts[code] as number;
    if (events > 0) yield [code, events];
  }
}

async function addPacked(
  totals: ReadonlyMap<FacetName, FrequentTexts>,
  { index }: SegmentView,
  rows: RowIds | undefined,
  yielder: Yielder,
): Promise<void> {
  const counts = rows
    ? await countCodes(index.facets, PACKED_FACETS - 1, rows, yielder)
    : index.packedCounts;
  counts.forEach((events, packed) => {
    const decision = DECISIONS[decisionOfFacets(packed) - 1];
    const consumer = CONSUMERS[consumerOfFacets(packed) - 1];
    if (events === 0) return;
    if (decision) totals.get("decision")?.add(decision, events);
    if (consumer) totals.get("consumer")?.add(consumer, events);
  });
}

/** Adds the reasons. Their texts are in no dictionary, but in the lines of rows that have them. */
async function addReasons(
  totals: FrequentTexts,
  log: SegmentedLog,
  organization: string,
  { index }: SegmentView,
  rows: RowIds,
  yielder: Yielder,
): Promise<void> {
  const { codes, size } = index.longFields.reason;
  const lastRows = new Uint32Array(size + 1);
  const counts = await countCodes(codes, size, rows, yielder, lastRows);
  for (const [code, events] of await greatest(withCode(counts), MOST_REASONS, yielder)) {
    const slice = sliceOf(index, lastRows[code] as number);
    if (slice.length > LONGEST_LINE) continue;
    const [line] = await log.read([slice]);
    const reason = line && readLine(line, organization)?.reason;
    if (reason !== undefined) totals.add(reason, events, reason.toLowerCase());
    if (yielder.isDue) await yielder.step();
  }
}
