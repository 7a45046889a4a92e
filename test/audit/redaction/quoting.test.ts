import assert from "node:assert/strict";
import { test } from "node:test";
import { PROGRAM_RULES } from "../../../src/audit/redaction/programs.ts";
import { REDACTION_RULES } from "../../../src/audit/redaction/rules.ts";
import { HARMLESS } from "../../policies/shell/command-lines.ts";
import { LOOK_ALIKES, SECRETS } from "./corpus.ts";
import { redactText } from "./redact-text.ts";

const single = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const mixed = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;
const double = (text: string): string => `"${text.replaceAll(/["\\$`]/g, String.raw`\$&`)}"`;
const escaped = (text: string): string => `$'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;

/** Commands that run another one, which is quoted correctly. */
const WRAPPERS: readonly ((command: string) => string)[] = [
  (command) => `sh -c ${single(command)}`,
  (command) => `bash -c ${double(command)}`,
  (command) => `ssh h ${single(command)}`,
  (command) => `sudo sh -c ${mixed(command)}`,
  (command) => `bash -c ${escaped(command)}`,
  // JSON writes the end of a line as no shell does.
  (command) => (command.includes("\n") ? command : JSON.stringify({ tool: "Bash", command })),
];
const NESTED = [
  ...WRAPPERS,
  ...WRAPPERS.flatMap((outer) => WRAPPERS.map((inner) => (text: string) => outer(inner(text)))),
];

/** The texts that redaction takes out of a text. */
function secretsOf(text: string): readonly string[] {
  const kept = redactText(text).text.split(/\[redacted:[\w-]+\]/);
  let at = 0;
  const secrets = kept.map((part) => {
    const start = text.indexOf(part, at);
    const secret = text.slice(at, start);
    at = start + part.length;
    return secret;
  });
  return [...secrets, text.slice(at)].flatMap((secret) => secret.split(/["'\\\s]+/));
}

for (const { id, matches, ignores } of [...REDACTION_RULES, ...PROGRAM_RULES]) {
  test(`${id}: the quotes of a command around an example change nothing`, () => {
    for (const example of matches) {
      // Shorter parts of a secret may be in other words too.
      const secrets = secretsOf(example).filter((secret) => secret.length > 3);
      for (const wrapped of NESTED.map((wrap) => wrap(example))) {
        const { text } = redactText(wrapped);
        assert.match(text, /\[redacted:/, wrapped);
        for (const secret of secrets) assert.ok(!text.includes(secret), `${wrapped}: ${text}`);
      }
    }
    for (const example of ignores) {
      for (const wrap of NESTED) assert.equal(redactText(wrap(example)).text, wrap(example));
    }
  });
}

test("secrets are taken out of commands in quotes, and nothing else is", () => {
  for (const wrap of NESTED) {
    for (const [text, ...secrets] of SECRETS) {
      const redacted = redactText(wrap(text)).text;
      for (const secret of secrets)
        assert.ok(!redacted.includes(secret), `${wrap(text)}: ${redacted}`);
    }
    for (const text of [...LOOK_ALIKES, ...HARMLESS]) {
      assert.equal(redactText(wrap(text)).text, wrap(text));
    }
  }
});
