import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LOOK_ALIKES, SECRETS } from "./corpus.ts";
import { redactText } from "./redact-text.ts";

const WORDS = [...SECRETS.map(([text]) => text), ...LOOK_ALIKES].flatMap((text) => text.split(" "));

test("a mark is not taken for a user and a password", () => {
  const { text } = redactText("curl --user=--http-password=hunter2 x");
  assert.equal(text, "curl --user=--http-password=[redacted:named-value] x");
  assert.deepEqual(redactText(text), { text, redactions: [] });
  const { text: own } = redactText("curl -u [redacted:literal]:hunter2 x");
  assert.equal(own, "curl -u [redacted:literal]:[redacted:curl-user] x");
});

test("redacting a text twice gives the same result as once", () => {
  const text = fc
    .array(
      fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(" ", "=", "'", '"', ": ", "; ", "\n")),
      {
        maxLength: 12,
      },
    )
    .map((parts) => parts.flat().join(""));
  fc.assert(
    fc.property(text, (before) => {
      const { text: once } = redactText(before);
      assert.deepEqual(redactText(once), { text: once, redactions: [] });
    }),
    { numRuns: 3_000 },
  );
});

for (const [text, ...secrets] of SECRETS) {
  test(`a secret is taken out of ${JSON.stringify(text.slice(0, 80))}`, () => {
    const redacted = redactText(text);
    for (const secret of secrets) assert.ok(!redacted.text.includes(secret), redacted.text);
    assert.match(redacted.text, /\[redacted:[\w-]+\]/);
    assert.deepEqual(redactText(redacted.text), { text: redacted.text, redactions: [] });
  });
}

for (const text of LOOK_ALIKES) {
  test(`${JSON.stringify(text)} is not redacted`, () => {
    assert.equal(redactText(text).text, text);
  });
}

for (const text of [
  "echo 'A_TOKEN='; rm -rf /; echo ''",
  "echo 'A_TOKEN='x; rm -rf /; echo 'x'",
  'echo "password="; rm -rf /; echo "x"',
  "A_TOKEN=x;rm -rf /",
  "A_TOKEN=x&&rm -rf /",
  "A_TOKEN=$(rm -rf /) ls",
  'A_TOKEN="x$(rm -rf /)" ls',
  'A_TOKEN="`rm -rf /`" ls',
  "tool --password x; rm -rf /",
  "tool --password x | rm -rf /",
  "mysql -px; rm -rf /",
  "curl -u a:b; rm -rf /",
  "curl -u a:b\nrm -rf /",
  "curl -H Cookie:a=b; rm -rf /",
  "echo 'mysql -p'; rm -rf /; echo 'b'",
  "echo 'A_TOKEN=a'; rm -rf /; echo 'b'",
  `bash -c "mysql -p'x'"; rm -rf /; echo "y"`,
  `X="$(echo "A_TOKEN=a"; rm -rf /; echo "b")" ls`,
  "echo 'export 'API_KEY=x; rm -rf /; echo 'b'",
  "sh -c 'API_KEY=one rm -rf /'",
  "ls # it's\nA_TOKEN=a; rm -rf /; echo 'b'",
]) {
  test(`redaction hides no command: ${JSON.stringify(text)}`, () => {
    assert.match(redactText(text).text, /rm -rf \//);
  });
}
