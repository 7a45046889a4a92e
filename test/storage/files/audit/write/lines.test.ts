import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import {
  firstLine,
  isEventLine,
  linesAsList,
  LineParts,
  readLine,
  writeLines,
} from "../../../../../src/storage/files/audit/write/lines.ts";
import { auditEventOf } from "../../../../audit/store-suite.ts";

test("many events are written as bytes, with the same lines as a text of few", async () => {
  const message = (i: number): string => (i % 500 === 0 ? '},{"id":"€😀' : "m").repeat(i % 40);
  const events = Array.from({ length: 3_500 }, (_, i) => auditEventOf({ message: message(i) }));
  const expected = events.map((event) => JSON.stringify(event));
  const bytes = await writeLines(events);
  assert.ok(Buffer.isBuffer(bytes));
  assert.equal(bytes.toString("utf8"), `${expected.join(" \n")}\n`);
  assert.deepEqual(JSON.parse(`[${linesAsList(bytes).toString("utf8")}]`), events);
  const text = writeLines(events.slice(0, 64));
  assert.equal(text, `${expected.slice(0, 64).join(" \n")}\n`);
});

test("a batch whose events grow longer is written whole", async () => {
  const events = Array.from({ length: 3_001 }, (_, i) =>
    auditEventOf({ message: "x".repeat(i < 2_000 ? 1 : 2_000) }),
  );
  const lines = (await writeLines(events)).toString().trimEnd().split(" \n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as unknown),
    events,
  );
});

test("a line is the same whether it is read in parts or at once", () => {
  const bytes = fc.string({
    unit: fc.constantFrom("a", "b", " ", "\r", "\n", "\0"),
    maxLength: 20,
  });
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 6 }), (text, length) => {
      const given = Buffer.from(text);
      const line = new LineParts();
      const parts: Buffer[] = [];
      for (let at = 0; at < given.length; at += length) {
        const part = line.take(given.subarray(at, at + length));
        if (part === undefined) break;
        parts.push(part);
      }
      assert.equal(Buffer.concat(parts).toString(), firstLine(given).toString());
    }),
  );
});

test("a line is recognised as an event exactly if it can be read as one", () => {
  const pieces = [
    ...[
      '"',
      "\\",
      "{",
      "}",
      "[",
      ",",
      ":",
      "0",
      "-",
      ".",
      "e",
      "x",
      " ",
      "\t",
      "é",
      "\0",
      "\\u00e9",
      "\\n",
    ],
    ...[
      ',"id":"b"',
      ',"organization_id":"other"',
      ',"timestamp":1',
      ',"executor":5',
      ',"ai":"yes"',
      ',"duration_ms":null',
      ',"message":{}',
      ',"n":-1.5e3',
      ',"n":01',
    ],
  ];
  const line = JSON.stringify({
    ...{ id: "a", organization_id: "own", timestamp: "2026-01-31T00:00:00.000Z" },
    ...{ ingested_at: "2026-01-31T00:00:00.000Z", consumer: "ci", status: "allowed", ai: false },
    ...{ command: 'git commit -m "\\\n"', duration_ms: 10, ratio: 0.5, note: null },
  });
  const edit = fc.record({
    at: fc.nat(line.length),
    removed: fc.nat(2),
    added: fc.constantFrom("", ...pieces),
  });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 2 }), (edits) => {
      let text = line;
      for (const { at, removed, added } of edits) {
        text = text.slice(0, at) + added + text.slice(at + removed);
      }
      const bytes = Buffer.from(text);
      assert.equal(isEventLine(bytes, "own"), readLine(bytes, "own") !== undefined, text);
    }),
    { numRuns: 3_000 },
  );
});

test("a line of many escapes is recognised as an event", () => {
  const message = "\n".repeat(4 << 20);
  const line = Buffer.from(
    JSON.stringify({ ...auditEventOf({ message }), organization_id: "own" }),
  );
  assert.ok(isEventLine(line, "own"));
});

for (const edited of [
  { executor: 5 },
  { command: null },
  { reason: ["x"] },
  { consumer: true },
  { consumer: undefined },
  { ingested_at: undefined },
  { ingested_at: 0 },
  { ai: "yes" },
  { duration_ms: "10" },
  { reported_by: {} },
]) {
  test(`a line with ${inspect(edited)} is damaged, since readers rely on the types`, () => {
    const event = { ...auditEventOf({}), organization_id: "own" };
    const line = (value: object): Buffer => Buffer.from(JSON.stringify(value));
    for (const whole of [event, { ...event, of_tomorrow: null }]) {
      assert.ok(isEventLine(line(whole), "own"));
      assert.equal(isEventLine(line({ ...whole, ...edited }), "own"), false);
      assert.equal(readLine(line({ ...whole, ...edited }), "own"), undefined);
    }
  });
}
