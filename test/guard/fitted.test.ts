/** The texts of an event without their secrets, cut to what the service stores. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LONG_TEXT, SHORT_TEXT } from "../../src/audit/event-fields.ts";
import { sample } from "../../src/audit/redaction/shapes.ts";
import { fitted as fittedAt } from "../../src/guard/fitted.ts";

const fitted = <Event extends Record<string, string>>(event: Event) => fittedAt(event, () => 0);

const TOKEN = `ghp_${sample(36)}`;
/** A text without white space in which a token begins some characters before the limit. */
const withToken = (before: number, filler = "a,", limit = LONG_TEXT): string =>
  `${filler.repeat(limit).slice(0, limit - before - 1)},${TOKEN},${filler.repeat(limit)}`;

test("a secret that crosses the limit of a text is redacted as a whole", () => {
  for (const before of [0, 1, 10, 39, 40, 41, 60]) {
    const { command } = fitted({ command: withToken(before) });
    assert.ok(!command.includes("ghp_"), String(before));
    assert.ok(command.length <= LONG_TEXT);
    assert.ok(command.length > LONG_TEXT - 100, `${before}: ${command.length}`);
  }
  const { resource } = fitted({ resource: withToken(10, "a,", SHORT_TEXT) });
  assert.ok(!resource.includes("ghp_") && resource.length > SHORT_TEXT - 100);
});

test("half a secret at the end of what is read is dropped, even if redaction has made the text shorter", () => {
  const long = `x --password ${"x1".repeat(50_000)} `;
  const text = withToken(-(16 << 10) + 10).slice(long.length);
  const { command } = fitted({ command: long + text });
  assert.match(command.slice(0, 50), /^x --password \[redacted:option-value\] ,?a,/);
  assert.ok(!command.includes("ghp_"));
});

test("texts that fit stay whole, and longer ones end with a whole word", () => {
  const event = { command: "a".repeat(LONG_TEXT), executor: "é".repeat(SHORT_TEXT / 2) };
  assert.deepEqual(fitted(event), event);
  const cut = fitted({
    command: `${"abc ".repeat(LONG_TEXT / 4)}abc`,
    executor: `${event.executor}é`,
  });
  assert.equal(cut.command, "abc ".repeat(LONG_TEXT / 4).trimEnd());
  assert.equal(cut.executor, event.executor);
  assert.deepEqual({ ...cut }, { ...cut, message: "too long, and cut: command, executor" });
  const grown = fitted({ command: `mysql -px ${"a".repeat(LONG_TEXT - 10)}` });
  assert.equal(grown.command.length, LONG_TEXT);
});

test("texts whose secrets are not found in two seconds are cut, and have no secrets either", () => {
  let now = 0;
  const slow = (event: Record<string, string>) => fittedAt(event, () => (now += 300));
  const command = `git push ${TOKEN} ${`x ${TOKEN} ${"y ".repeat(500)}`.repeat(100)}`;
  const cut = slow({ command, executor: "ada" });
  assert.equal(cut["message"], "too long, and cut: command");
  const [kept = "", ...more] = [cut["command"], cut["executor"]];
  assert.deepEqual(more, ["ada"]);
  assert.match(kept, /^git push \[redacted:github\] x \[redacted:github\] /);
  assert.ok(
    kept.length > 8_000 && kept.length <= 16_384 && !kept.includes("ghp_"),
    kept.slice(-80),
  );
  assert.deepEqual(slow({ command: `echo ${TOKEN}` }), { command: "echo [redacted:github]" });
  const plain = { command: "ls ".repeat(100_000) };
  assert.ok(slow(plain)["command"] === plain.command, "nothing to find takes no time");
});
