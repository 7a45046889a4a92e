import assert from "node:assert/strict";
import { test } from "node:test";
import { redactText } from "./redact-text.ts";

/** Tests that long texts of repeated pieces are redacted in a time that grows with their length. */
export function testLinearTime(pieces: readonly string[]): void {
  for (const piece of pieces) {
    test(`a text of 256 KiB of ${JSON.stringify(piece)} is redacted in linear time`, () => {
      timeOf(piece, 1 << 14);
      // A pattern that takes the square of the length takes a minute. Busy machines take some times longer than the 1 s.
      assert.ok(timeOf(piece, 1 << 18) < 5_000);
    });
  }
}

/** The processor time of a redaction in milliseconds. */
function timeOf(piece: string, length: number): number {
  const text = piece.repeat(Math.ceil(length / piece.length));
  const start = process.cpuUsage();
  redactText(text);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}
