import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cell, CSV_HEADER, csvLine, csvLines, longCell, longCsvLine } from "../../src/audit/csv.ts";
import { finish } from "../../src/core/scheduling/work.ts";
import { auditEvent } from "../../src/audit/schema.ts";
import { auditEventOf } from "./store-suite.ts";

/** Parses comma-separated values, character by character, by RFC 4180. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  let value = "";
  let isQuoted = false;
  const endCell = (): void => {
    rows.at(-1)?.push(value);
    value = "";
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (isQuoted && char === '"' && text[i + 1] === '"') value += text[++i];
    else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && char === ",") endCell();
    else if (!isQuoted && char === "\r" && text[i + 1] === "\n") {
      endCell();
      rows.push([]);
      i++;
    } else value += char;
  }
  rows.pop();
  return rows;
}

test("the first line names every field of an event, in the order of the schema", () => {
  assert.deepEqual(readCsv(CSV_HEADER), [Object.keys(auditEvent.properties)]);
});

test("a line has the values in that order, and an empty value for an absent field", () => {
  const event = auditEventOf({ command: "ls", ai: true, duration_ms: 0 });
  const [names = [], values = []] = readCsv(CSV_HEADER + csvLine(event));
  assert.equal(values.length, names.length);
  const fields = Object.fromEntries(names.map((name, i) => [name, values[i]]));
  assert.equal(fields["id"], event.id);
  assert.equal(fields["command"], "ls");
  assert.equal(fields["ai"], "true");
  assert.equal(fields["duration_ms"], "0");
  assert.equal(fields["executor"], "");
});

for (const [text, wanted] of [
  ["plain text with 'quotes'", "plain text with 'quotes'"],
  ["a; b", '"a; b"'],
  ["a\tb", '"a\tb"'],
  ["a;=1", '"a;\'=1"'],
  ['a; "@1', '"a;\' ""@1"'],
  ["a\t-1", '"a\t\'-1"'],
  ["ls\n=1", '"ls\n\'=1"'],
  ["a;b=1", '"a;b=1"'],
  [" =1", "' =1"],
  ["a,b", '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\nlines", '"two\nlines"'],
  ["=1+1", "'=1+1"],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\tx", '"\'\tx"'],
  ["\rx", '"\'\rx"'],
  ["\n=1", `"'\n'=1"`],
  ["\uff1d1+1", "'\uff1d1+1"],
  ...[..."\ufe62\ufe63\ufe66\ufe6b"].map((small) => [`${small}1`, `'${small}1`] as const),
  ["\ufe0f=1", "'\ufe0f=1"],
  ["\u034f\u3164+1", "'\u034f\u3164+1"],
  ["\u2800@1", "'\u2800@1"],
  ["a;\u{e0100}-1", `"a;'\u{e0100}-1"`],
  ["\uff0d1", "'\uff0d1"],
  ['=HYPERLINK("http://x")', '"\'=HYPERLINK(""http://x"")"'],
  ["\0=1", "'\0=1"],
  ["\ufeff=1", "'\ufeff=1"],
  ["\u200b+1", "'\u200b+1"],
  ["\u00a0\u001b@1", "'\u00a0\u001b@1"],
  ["a;\u2028\u2060-1", '"a;\'\u2028\u2060-1"'],
  ["\u200bplain", "\u200bplain"],
  ["a=1", "a=1"],
  ["'=1", "'=1"],
  ["", ""],
  ["Zoë 😀", "Zoë 😀"],
] as const) {
  test(`the text ${JSON.stringify(text)} is written as ${JSON.stringify(wanted)}`, () => {
    assert.equal(cell(text), wanted);
  });
}

test("numbers and booleans are written unchanged", () => {
  assert.equal(cell(-1), "-1");
  assert.equal(cell(false), "false");
  assert.equal(cell(undefined), "");
});

test("any texts give as many lines as there are events", () => {
  const texts = fc.array(fc.string({ unit: fc.constantFrom('"', ",", "\n", "\r", "=", "é", "a") }));
  fc.assert(
    fc.property(texts, (commands) => {
      const events = commands.map((command) => auditEventOf({ command }));
      const rows = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
      const column = Object.keys(auditEvent.properties).indexOf("command");
      const found = readCsv(finish(csvLines(rows))).map((line) => line[column]);
      const safe = commands.map((text) =>
        text
          .replace(/^(?=[\r\n])/, "'")
          .replaceAll(/(^|[\r\n])(?="*=)/g, (start) => (start === "" ? "'" : `${start}'`)),
      );
      assert.deepEqual(found, safe);
    }),
  );
});

/** Splits lines like a spreadsheet with these separators: quotes count only at the start of a cell. */
function spreadsheetCells(text: string, separators: string): string[] {
  const cells: string[] = [];
  let cell = "";
  for (let i = 0; i < text.length;) {
    if (cell === "" && text[i] === '"') {
      for (i++; i < text.length; i++) {
        if (text[i] !== '"') cell += text[i];
        else if (text[i + 1] === '"') cell += text[++i];
        else break;
      }
      i++;
      // Text after the closing quote belongs to the cell unchanged.
      while (i < text.length && !`${separators}\r\n`.includes(text[i] as string)) cell += text[i++];
    } else if (`${separators}\r\n`.includes(text[i] as string)) {
      cells.push(cell);
      cell = "";
      i++;
    } else cell += text[i++];
  }
  return [...cells, cell];
}

for (const separators of [",", ";", "\t", ",;\t"]) {
  test(`no cell is a formula where separators are ${JSON.stringify(separators)}`, () => {
    const unit = fc.constantFrom(
      '"',
      ",",
      ";",
      "\t",
      "\n",
      "\r",
      " ",
      "=",
      "@",
      "\uff1d",
      "\u200b",
      "\u00a0",
      "'",
      "a",
    );
    const text = fc.string({ unit, maxLength: 12 });
    const id = fc.string({ unit: fc.constantFrom('"', ",", ";", "=", "'", "a"), minLength: 1 });
    const event = fc.record({ id, command: text, executor: text, message: text, transport: text });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 3 }), (fields) => {
        const lines = CSV_HEADER + fields.map((one) => csvLine(auditEventOf(one))).join("");
        for (const cell of spreadsheetCells(lines, separators)) {
          assert.doesNotMatch(cell, /^[ \u00a0\u200b]*[=+\-@\uff1d\uff0b\uff0d\uff20]/);
        }
      }),
      { numRuns: 1_000 },
    );
  });
}

test("a long text becomes the same cell as in one piece", () => {
  const unit = fc.constantFrom(
    ...'",;\t\r\n =+-@\uff1d\uff20\ufe66aé\0\u00a0\u200b',
    "\u{e0001}",
    "x".repeat(5_000),
    " ".repeat(9_000),
  );
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      assert.equal(Buffer.concat(finish(longCell(text))).toString(), cell(text));
    }),
  );
});

test("a long row becomes the same line as in one piece", () => {
  const event = auditEventOf({ command: "x".repeat(90_000), reason: '=1\t=a"\n'.repeat(40_000) });
  const row = Buffer.from(`${JSON.stringify(event)}\n`);
  assert.equal(finish(longCsvLine(row)).toString(), csvLine(event));
});

test("a long text of quotes, which may begin a formula up to its end, is written in small parts", () => {
  for (const end of ["", "="]) {
    const text = '"'.repeat(1 << 20) + end;
    const work = longCell(text);
    let steps = 1;
    let part = work.next();
    for (; part.done !== true; part = work.next()) steps++;
    assert.ok(steps > 500, `${steps} steps`);
    assert.ok(part.value.every(({ length }) => length <= 16 << 10));
    const apostrophe = end && "'";
    assert.ok(
      Buffer.concat(part.value).equals(
        Buffer.from(`"${apostrophe}${text.replaceAll(/"/g, '""')}"`),
      ),
    );
  }
});
