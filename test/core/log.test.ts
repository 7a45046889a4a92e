import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, describeError, LOG_LEVELS } from "../../src/core/log.ts";

const NOW = Date.UTC(2026, 10, 20, 20, 30, 0, 5);
const SPEAKING = ["debug", "info", "warn", "error"] as const;

for (const level of LOG_LEVELS) {
  test(`at ${level}, lines of that level and above are written`, () => {
    const lines: string[] = [];
    const log = createLog(
      level,
      () => NOW,
      (line) => lines.push(line),
    );
    for (const speaking of SPEAKING) log[speaking](speaking);
    const expected = SPEAKING.filter(
      (each) => LOG_LEVELS.indexOf(each) >= LOG_LEVELS.indexOf(level),
    );
    const written = lines.map((line) => (JSON.parse(line) as { message: string }).message);
    assert.deepEqual(written, expected);
    assert.deepEqual(SPEAKING.filter(log.enabled), expected);
  });
}

test("a line is one JSON object with time, level, message and any fields", () => {
  const lines: string[] = [];
  const log = createLog(
    "info",
    () => NOW,
    (line) => lines.push(line),
  );
  log.warn('two\nlines "quoted"', { status: 503, path: "a\r\nb\u2028", absent: undefined });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /^[^\n\r]+\n$/);
  assert.deepEqual(JSON.parse(lines[0] ?? ""), {
    time: "2026-11-20T20:30:00.005Z",
    level: "warn",
    message: 'two\nlines "quoted"',
    status: 503,
    path: "a\r\nb\u2028",
  });
});

test("an error is described with its stack and every cause", () => {
  const error = new Error("outer", { cause: new TypeError("inner", { cause: "the disk" }) });
  const text = describeError(error);
  assert.match(text, /^Error: outer\n\s+at /);
  assert.match(text, /\ncaused by TypeError: inner\n/);
  assert.match(text, /\ncaused by the disk$/);
});

test("any thrown value can be described", () => {
  const own = new Error("itself");
  own.cause = own;
  const bare: unknown = Object.create(null);
  for (const thrown of ["text", 1, null, undefined, Symbol("s"), {}, bare, own]) {
    assert.equal(typeof describeError(thrown), "string");
  }
  assert.equal(describeError("text"), "text");
});
