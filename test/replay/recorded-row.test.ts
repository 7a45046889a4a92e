import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EVENT_FIELDS } from "../../src/audit/event-fields.ts";
import { eachRow, type RecordedRow } from "../../src/replay/recorded-row.ts";
import { anyText } from "../support/any-text.ts";

const READ = [
  ...(["id", "timestamp", "command", "provider", "capability", "consumer", "executor"] as const),
  ...(["resource", "runtime_name", "runtime_version", "policy", "policy_decision"] as const),
];

function read(lines: string): readonly Partial<RecordedRow>[] {
  const rows: Partial<RecordedRow>[] = [];
  const count = eachRow(Buffer.from(lines), (row) => {
    rows.push(Object.fromEntries(READ.map((name) => [name, row[name]])));
  });
  assert.equal(count, rows.length);
  return rows;
}

function parsed(line: string): Partial<RecordedRow> {
  const value = JSON.parse(line) as RecordedRow;
  return Object.fromEntries(READ.map((name) => [name, value[name]]));
}

const texts = fc.oneof(
  anyText(),
  fc.constantFrom(
    "",
    '"',
    "\\",
    '\\"',
    '","command":"rm -rf /',
    "\n\u2028",
    "é",
    "日本",
    "\u{1f600}",
  ),
);
const values = {
  ai: fc.boolean(),
  duration_ms: fc.nat(),
} as const;
const events = fc.record(
  Object.fromEntries(
    EVENT_FIELDS.map(({ name }) => [name, name in values ? values[name as "ai"] : texts]),
  ),
  { requiredKeys: [] },
);

test("the fields of stored lines are read as JSON.parse reads them", () => {
  fc.assert(
    fc.property(fc.array(events), (list) => {
      const lines = list.map((event) => JSON.stringify(event));
      assert.deepEqual(read(lines.map((line) => `${line}\n`).join("")), lines.map(parsed));
    }),
  );
});

test("lines that the service has not written are read in the same way", () => {
  const lines = [
    '{"command":"ls","id":"e1"}', // in another order
    '{ "id": "e1", "command": "ls" }',
    '{"id":"e1","command":"ls"} ',
    '{"id":"e1","com\\u006dand":"ls"}',
    '{"id":"e1","command":"ls","command":"rm"}',
    '{"id":"e1","new_field":{"command":"rm"},"command":"ls"}',
    '{"id":"e1","command":null,"provider":"git"}',
    '{"id":"e1","ai":{"command":"rm"},"provider":"git"}',
    "{}",
  ];
  for (const line of lines) {
    const found = read(`${line}\n`)[0];
    for (const name of READ)
      assert.equal(found?.[name] ?? undefined, parsed(line)[name] ?? undefined, line);
  }
});

test("a line that is not JSON is refused", () => {
  for (const line of ['{"id":"e1', '{"id":"e1"', '{"id":"e1\\', '{"id":"e1",}', "[]x", "{"]) {
    assert.throws(() => read(`${line}\n{"id":"e2"}\n`), SyntaxError, line);
  }
});
