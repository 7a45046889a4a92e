/* oxlint-disable no-template-curly-in-string -- expansions of the shell */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ownRules } from "../../../src/audit/redaction/own-rules.ts";
import { Redactor } from "../../../src/audit/redaction/redact.ts";

const redactor = new Redactor(ownRules([{ key: "audit.redact.names", value: "dsn, Acme.Seat" }]));

for (const text of [
  "ACME_DSN=hunter2 x",
  "ACME_DSN+=hunter2 x",
  "sh -c 'acmeDsn=hunter2 x'",
  "env 'ACME_DSN=one hunter2' x",
  'docker run -e "ACME_DSN=one hunter2" x',
  "os.environ['ACME_DSN']='hunter2'",
  `os.environ["ACME_DSN"] = "hunter2"`,
  ": ${ACME_DSN:-hunter2}",
  "setx ACME_DSN hunter2",
  "set -gx ACME_DSN hunter2",
  "x --acme-dsn hunter2",
  "x --acme-dsn=hunter2",
  'CMD ["x", "--acme-dsn", "hunter2"]',
  '{"acmeDsn": "hunter2"}',
  String.raw`{\"acmeDsn\":\"hunter2\"}`,
  'dsn => "hunter2"',
  "dsn: hunter2",
  "java -Dacme.seat=hunter2 x",
]) {
  test(`the value of an organization's own name is replaced: ${text}`, () => {
    assert.doesNotMatch(redactor.redact(text).text, /hunter2/);
    assert.match(redactor.redact(text).text, /\[redacted:name\]/);
  });
}

for (const text of [
  "ACME_DSN_FILE=hunter2 x",
  "ACME_DSN=$OTHER x",
  "env 'ACME_DSN=$OTHER' x",
  ": ${ACME_DSN:-}",
  ": ${ACME_DSN:-$OTHER}",
  "x --acme-dsn --verbose",
  "x --acme-dsn-file hunter2",
  "setx ACME_DSN $OTHER",
  'if [ "$ACME_DSN" == "x" ]; then',
  "the dsn: it is missing",
]) {
  test(`a text without the value of an own name stays: ${text}`, () => {
    assert.equal(redactor.redact(text).text, text);
  });
}
