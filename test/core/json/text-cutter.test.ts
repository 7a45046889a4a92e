import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cutTexts, TextCutter } from "../../../src/core/json/text-cutter.ts";

/** The expected result of cutting a string, by its code points. */
function expected(text: string, most: number): string {
  const points = Array.from(text);
  return points.length <= most ? text : `${points.slice(0, most).join("")}…`;
}

function cut(json: Buffer, most: number, piece = json.length): string {
  const cutter = new TextCutter(most);
  const parts: Buffer[] = [];
  for (let at = 0; at < json.length; at += piece)
    parts.push(cutter.cut(json.subarray(at, at + piece)));
  return Buffer.concat(parts).toString("utf8");
}

test("strings are cut to the limit, wherever pieces of the JSON end", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "é", "漢", "😀", '"', "\\", "\n", "\u0001"),
    maxLength: 12,
  });
  fc.assert(
    fc.property(
      fc.array(fc.record({ command: text, n: fc.integer() })),
      fc.integer({ min: 7, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      (events, most, piece) => {
        const shown = JSON.parse(cut(Buffer.from(JSON.stringify(events)), most, piece)) as unknown;
        assert.deepEqual(
          shown,
          events.map((event) => ({ ...event, command: expected(event.command, most) })),
        );
      },
    ),
  );
});

test("a pair of escaped surrogates is one character", () => {
  const json = Buffer.from(String.raw`["ab\ud83d\ude00cd","ab\uD83D\uDE00","a\ud83db"]`);
  for (const piece of [1, 2, 3, 100]) {
    assert.equal(cut(json, 3, piece), String.raw`["ab\ud83d\ude00…","ab\uD83D\uDE00","a\ud83db"]`);
    assert.equal(cut(json, 2, piece), String.raw`["ab…","ab…","a\ud83d…"]`);
  }
});

test("JSON without long strings passes unchanged, and is not copied", () => {
  const json = Buffer.from('{"a":"b","c":[1,"\\""]}');
  const cutter = new TextCutter(5);
  assert.equal(cutter.cut(json), json);
  assert.equal(cutter.hasCut, false);
});

test("the cut part of a long text is never held in memory, and other work runs in between", async () => {
  let turns = 0;
  const count = (): void => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const json = Buffer.from(JSON.stringify([{ command: '\\"'.repeat(4 << 20) }]));
  let longest = 0;
  let all = "";
  const cutter = new TextCutter(100);
  for await (const part of cutTexts(json, cutter)) {
    longest = Math.max(longest, part.length);
    all += part.toString("utf8");
  }
  clearImmediate(counting);
  assert.equal((JSON.parse(all) as { command: string }[])[0]?.command.length, 101);
  assert.ok(longest < 1_000, String(longest));
  assert.ok(turns > 2, String(turns));
  assert.equal(cutter.hasCut, true);
});
