import assert from "node:assert/strict";
import { test } from "node:test";
import { draftBatch } from "../../src/audit/drafting.ts";
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
