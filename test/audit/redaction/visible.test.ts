/** Redaction hides no command that a shell would run, and long secrets are replaced whole. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { redactText } from "../../../src/audit/redaction/redact.ts";

/** Commands, and what is stored of them. */
const SUBSTITUTIONS = [
  ['mysql -p"a$(evil --all /srv)" db', 'mysql -p"[redacted:mysql-password]$(evil --all /srv)" db'],
  ["mysql -pa`evil` db", "mysql -p[redacted:mysql-password]`evil` db"],
  [
    'curl -u "ada:x$(evil a; evil b | evil c)" h',
    'curl -u "ada:[redacted:curl-user]$(evil a; evil b | evil c)" h',
  ],
  [
    `sh -c 'docker login -p "x$(evil)"'`,
    `sh -c 'docker login -p "[redacted:login-password]$(evil)"'`,
  ],
  [`sh -c "mysql -p'a$(evil)'"`, `sh -c "mysql -p'[redacted:mysql-password]$(evil)'"`],
  ["cat <<E\npassword: 'x$(evil)'\nE", "cat <<E\npassword: '[redacted:labelled-value]$(evil)'\nE"],
] as const;

for (const [command, stored] of SUBSTITUTIONS) {
  test(`a secret ends before a substitution: ${command}`, () => {
    assert.equal(redactText(command).text, stored);
  });
}

for (const command of ["mysql -p'a$(b`c' db", String.raw`mysql -p"a\$(b\`c" db`]) {
  test(`a substitution that no shell runs is part of a secret: ${command}`, () => {
    assert.doesNotMatch(redactText(command).text, /\$\(b|c['"]/);
  });
}

test("a private key ends where something else than base64 begins", () => {
  const line = "a1B2c3D4e5f6".repeat(5);
  const key = `-----BEGIN PRIVATE KEY-----\n${line}\n${line}`;
  assert.equal(
    redactText(`# ${key}\nevil --all /srv/data; evil two\n`).text,
    "# -----BEGIN PRIVATE KEY-----[redacted:private-key]\nevil --all /srv/data; evil two\n",
  );
});

const LONG = "Zx9".repeat(1_500);
for (const command of [
  `kubectl apply -f - <<E\nkind: Secret\ndata:\n  tls.key: ${LONG}\nE`,
  `echo ${LONG} | gh secret set NAME`,
  `echo '${LONG}' | docker login -u AWS --password-stdin h`,
  `echo -n ada:${LONG} | base64`,
  `curl -H 'Cookie: a=1; b=${LONG}' h`,
  `git clone https://ada:${LONG.slice(0, 2_000)}@example.com/x`,
]) {
  test(`a secret of some thousand characters is replaced whole: ${command.slice(0, 40)}…`, () => {
    assert.doesNotMatch(redactText(command).text, /Zx9/);
  });
}
