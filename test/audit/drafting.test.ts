import assert from "node:assert/strict";
import { test } from "node:test";
import { draftBatch } from "../../src/audit/drafting.ts";
import { ownRules } from "../../src/audit/redaction/own-rules.ts";
import { Redactor } from "../../src/audit/redaction/redact.ts";
import { REDACTION_RULES } from "../../src/audit/redaction/rules.ts";

test("no more than a few short texts are redacted between two pauses of a batch", () => {
  let now = 0; // characters that were redacted at once since the last pause
  class Counting extends Redactor {
    override redact(text: string): ReturnType<Redactor["redact"]> {
      now += text.length;
      return super.redact(text);
    }
  }
  const redactor = new Counting(REDACTION_RULES);
  const context = { organization: "o", now: 0, ids: () => "id", redactor, count: () => undefined };
  for (const length of [400, 8_000]) {
    const text = "sh -c \"ssh h 'mysql -p".repeat(400).slice(0, length);
    const event = { command: text, message: text, reason: text, resource: text };
    const work = draftBatch(
      Array.from({ length: 10 }, () => event),
      context,
    );
    let longest = 0;
    for (let part = work.next(); part.done !== true; part = work.next()) {
      longest = Math.max(longest, now);
      now = 0;
    }
    assert.ok(longest <= 4 * 512, `${longest} characters`);
  }
});

const alike = (count: number): string => "a".repeat(count);
const NAMES = Array.from({ length: 60 }, (_, i) => `${alike(i)}b${alike(60 - i)}`);

for (const [what, piece] of [
  ["a program's name", " ab -"],
  ["the end of a name", "-secret"],
  ["the beginning of an organization's names", "a"],
] as const) {
  test(`texts without secrets that repeat ${what} take few steps between two pauses of a batch`, () => {
    const own = ownRules([{ key: "audit.redact.names", value: NAMES.join(",") }]);
    const redactor = new Redactor([...own, ...REDACTION_RULES]);
    const text = piece.repeat(2_048 / piece.length);
    const event = { command: text, message: text, reason: text, resource: text };
    const events = Array.from({ length: 64 }, () => event);
    const work = draftBatch(events, {
      organization: "o",
      now: 0,
      ids: () => "id",
      redactor,
      count: () => assert.fail(),
    });
    let seen = 0;
    let pauses = 0;
    for (let part = work.next(); part.done !== true; part = work.next(), pauses++) {
      const steps = redactor.steps - seen;
      assert.ok(steps < 6 * 4_096, `${steps} steps`);
      seen = redactor.steps;
    }
    assert.ok(pauses > 64);
  });
}
