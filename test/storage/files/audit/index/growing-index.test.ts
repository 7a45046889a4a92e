import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import {
  GrowingIndex,
  indexLines,
  TEXT_CHARACTERS,
} from "../../../../../src/storage/files/audit/index/growing-index.ts";
import { hashOf } from "../../../../../src/storage/files/audit/index/hash.ts";
import type { CodedField } from "../../../../../src/storage/files/audit/index/segment-index.ts";
import { readLine } from "../../../../../src/storage/files/audit/write/lines.ts";
import {
  CODED_FIELDS,
  LONG_FIELDS,
  packFacets,
} from "../../../../../src/storage/files/audit/index/fields.ts";
import { auditEventOf } from "../../../../audit/store-suite.ts";
import { anyText } from "../../../../support/any-text.ts";

const ORGANIZATION = "acme";

const EVENT = auditEventOf();

type Row = Readonly<Record<string, unknown>>;

/** The rows that an index gets from some bytes, and the offsets of damaged lines. */
function indexed(bytes: Buffer): { rows: Row[]; damaged: number[] } {
  const index = new GrowingIndex(1);
  const damaged: number[] = [];
  indexLines(index, ORGANIZATION, bytes, 1_000, (_, at) => void damaged.push(at));
  const rows = Array.from({ length: index.rows }, (_, row) => {
    const value = ({ codes, dictionary }: CodedField) =>
      codes[row] === 0 ? undefined : dictionary.listedValueOf(codes[row] as number);
    const fields = CODED_FIELDS.map(({ name }) => [name, value(index.fields[name])]);
    return {
      offset: index.offsets[row],
      time: index.times[row],
      kind: index.facets[row],
      idHash: index.idHashes[row],
      ...(Object.fromEntries(
        LONG_FIELDS.map((name) => [name, value(index.longFields[name])]),
      ) as Row),
      trace_id: value(index.traces),
      ...(Object.fromEntries(fields) as Row),
    };
  });
  return { rows, damaged };
}

/** The same by `JSON.parse`, line by line. */
function parsed(bytes: Buffer): { rows: Row[]; damaged: number[] } {
  const rows: Row[] = [];
  const damaged: number[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf("\n", start);
    const line = bytes.subarray(start, end);
    const event = readLine(line, ORGANIZATION);
    if (event !== undefined) rows.push(rowOf({ ...event }, start + 1_000));
    else if (/[^ \t\r]/.test(line.toString("latin1"))) damaged.push(start + 1_000);
    start = end + 1;
  }
  return { rows, damaged };
}

function rowOf(event: Row, offset: number): Row {
  const text = (name: string): string | undefined => {
    const value = event[name];
    return typeof value === "string" ? value.toWellFormed() : undefined;
  };
  const [consumer, policy_decision] = [text("consumer"), text("policy_decision")];
  return {
    offset,
    time: Date.parse(event["timestamp"] as string),
    kind: packFacets({ consumer, policy_decision, ai: event["ai"] === true }),
    idHash: hashOf(event["id"] as string),
    ...Object.fromEntries(LONG_FIELDS.map((name) => [name, text(name)])),
    trace_id: text("trace_id"),
    ...Object.fromEntries(CODED_FIELDS.map(({ name }) => [name, text(name)])),
  };
}

const someText = fc.oneof(
  fc.string({ maxLength: 40 }),
  anyText({ maxLength: 12 }),
  fc.constantFrom('a "quoted" word', "C:\\temp\\new", "tab\there", "İstanbul ΑΣ", "\ud800", "😀"),
  fc.constantFrom("", "}", '"}', '},{"id":"', "\u0000\u001f\u007f", "null", "0"),
);
const someMoment = fc
  .integer({ min: Date.UTC(1, 0), max: Date.UTC(9998, 0) })
  .map((ms) => new Date(ms).toISOString());
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

/** The fields of an event in the order of the log. */
const someEvent = fc.record({
  id: fc.oneof(fc.constantFrom("a", 'b"\\c'), fc.string({ minLength: 1, maxLength: 30 })),
  organization_id: fc.constantFrom(ORGANIZATION, ORGANIZATION, ORGANIZATION, "acmee", "acm"),
  timestamp: someMoment,
  ingested_at: someMoment,
  command: optional(someText),
  executor: optional(someText),
  consumer: fc.constantFrom("human", "ai", "ci", "other", "\u0061i"),
  ai: fc.boolean(),
  provider: optional(someText),
  capability: optional(someText),
  resource: optional(someText),
  policy_decision: optional(fc.constantFrom("ALLOWED", "DENIED", "MAYBE")),
  policy: optional(someText),
  reason: optional(someText),
  status: someText,
  message: optional(someText),
  duration_ms: optional(fc.constantFrom<unknown>(0, 7, 10 ** 21, -1, 1.5, "3", null)),
  runtime_name: optional(someText),
  runtime_version: optional(someText),
  runtime_context: optional(someText),
  trace_id: optional(someText),
  transport: optional(someText),
});

/** An event as different programs would write it, some incorrectly. */
const someLine = fc.tuple(someEvent, fc.nat(13), fc.nat()).map(([event, form, place]): Buffer => {
  const json = JSON.stringify(event);
  const values = Object.entries(event);
  const at = place % json.length;
  switch (form) {
    case 0:
      return Buffer.from(`${json} `);
    case 1:
      return Buffer.from(`  ${json}\r`);
    case 2:
      return Buffer.from(JSON.stringify(event, null, 1).replaceAll("\n", " "));
    case 3:
      return Buffer.from(JSON.stringify(Object.fromEntries(values.reverse())));
    case 4:
      return Buffer.from(
        JSON.stringify({ ...event, extra: { id: "x" }, command: 5, trace_id: null }),
      );
    case 5:
      return Buffer.from(json.replace("}", ',"executor":"twice"}'));
    case 6: // torn
      return Buffer.from(json.slice(0, at));
    case 7: // a changed byte
      return Buffer.from(json.slice(0, at) + "x" + json.slice(at + 1));
    case 8:
      return Buffer.from(json.slice(0, at) + "\\" + json.slice(at + 1));
    case 9: // not UTF-8
      return Buffer.concat([Buffer.from(json.slice(0, at)), Buffer.of(0xff), Buffer.from(json)]);
    case 10:
      return Buffer.from(json.replaceAll("a", "\\u0061"));
    case 11:
      return Buffer.from(json.slice(0, at) + "\u0001" + json.slice(at));
    case 12:
      return Buffer.from(json.replace(/"duration_ms":\d/, '"duration_ms":0'));
    default:
      return Buffer.from(json);
  }
});

test("every line is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.array(someLine, { minLength: 1, maxLength: 6 }), (lines) => {
      const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
      assert.deepEqual(indexed(bytes), parsed(bytes));
    }),
    { numRuns: 3_000 },
  );
});

test("a line with any byte changed is read as JSON.parse reads it", () => {
  const event = {
    ...{ id: "a", organization_id: ORGANIZATION, timestamp: "2026-01-31T12:00:00.000Z" },
    ...{ ingested_at: "2026-02-01T00:00:00.000Z", command: "ls -l", consumer: "ci", ai: true },
    ...{ policy_decision: "DENIED", status: "denied", duration_ms: 12, trace_id: "0af7" },
  };
  const line = Buffer.from(`${JSON.stringify(event)}\n`);
  for (let at = 0; at < line.length - 1; at++) {
    for (const byte of Buffer.from('"\\},:0 a\u0001')) {
      const changed = Buffer.from(line);
      changed[at] = byte;
      assert.deepEqual(indexed(changed), parsed(changed), String(changed));
    }
  }
});

test("a number that is not valid JSON damages its line", () => {
  for (const number of ["01", "1.", "-", "+1", "1e", "0x1"]) {
    const line = Buffer.from(
      `{"id":"a","organization_id":"acme","timestamp":"2026-01-31T12:00:00.000Z",` +
        `"ingested_at":"2026-01-31T12:00:00.000Z","duration_ms":${number}}\n`,
    );
    assert.deepEqual(indexed(line), { rows: [], damaged: [1_000] }, number);
  }
});

test("short texts count by their number as well as by their length", () => {
  const index = new GrowingIndex(1);
  const events = 1_000;
  for (let i = 0; i < events; i++) {
    index.add({ ...EVENT, executor: `e${i}`, trace_id: `t${i}` }, i, i + 1);
  }
  assert.ok(index.characters > 2 * events * TEXT_CHARACTERS, String(index.characters));
});
