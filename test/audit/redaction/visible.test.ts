/** Redaction hides no command that a shell would run, and long secrets are replaced whole. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testLinearTime } from "./linear-time.ts";
import { redactText } from "./redact-text.ts";

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

/** The rest of a command that began with what looks like a secret. */
const COMMANDS = [
  "echo 'TOKEN=\"0'; evil --all | evil",
  '# note: the password: "see wiki\nevil --all',
  String.raw`x --token \"a; evil --all`,
  `psql -c "role a WITH PASSWORD 'b"; evil --all`,
  "X='kind: Secret\ndata:\n  a: b' evil --all",
  "curl http://a:b;evil;c@h",
  ": <token>x;evil --all </etc/passwd",
  "echo -n a:b;evil|base64",
  "sshpass -p <(evil) x",
  ": Cookie: a=b>(evil)",
  "cat <<.\nA_TOKEN='`evil`'\n.",
  `X="-----BEGIN PRIVATE KEY-----\nComment: " evil ${"a1B2c3D4".repeat(8)}`,
  "gh auth login --with-token\nevil --all",
  `X="-----BEGIN PRIVATE KEY-----\nComment: " evil --all "$HOME"`,
  'X="-----BEGIN PRIVATE KEY-----" evil ----',
  `cat <<E > .env\nDB_PASSWORD='abc\nE\nevil --all; echo "it's"`,
  "mask=$((1<<8))\ncurl http://a:b;evil;c@h\n8",
  "# <<E\ncurl http://a:b;evil;c@h\nE",
  "# alter role ada with password 'x\nevil --all\necho 'done'",
];

for (const command of COMMANDS) {
  test(`a command stays: ${JSON.stringify(command)}`, () => {
    assert.match(redactText(command).text, /evil/);
  });
}

for (const break_ of ["\n> ", "\n// ", "\n   12\t", "\\n", '\\n" +\n  "', "<br>", " "]) {
  test(`a private key is found with ${JSON.stringify(break_)} between its lines`, () => {
    const lines = ["Zx9aZ3kQ".repeat(8), "Zx9aZ3kQ".repeat(8), "Zx9aZ3k="];
    const key = ["-----BEGIN RSA PRIVATE KEY-----", ...lines, "-----END RSA PRIVATE KEY-----"];
    assert.doesNotMatch(redactText(`"${key.join(break_)}"`).text, /Zx9/);
  });
}

const BEGIN = "-----BEGIN PRIVATE KEY-----";
const SECRET = 'A_TOKEN="a;b"\n';
testLinearTime([
  ...[`${BEGIN}${"Version: a".repeat(40)}`, `${BEGIN}Hash: ${",".repeat(400)}`, BEGIN],
  ...[`kind: Secret\ndata:${"\n#c\r".repeat(8)}\n  a: $B`, "'Private-Lines: 1\nAbc: x' "],
  ...[`echo a |sh${" --rcfile====sh".repeat(12)} x\n`, `<<${"a".repeat(80)}\n${"a".repeat(1_000)}`],
  `kind: Secret\ndata:${`${"\n#c\r".repeat(8)}\n  a: $B`.repeat(50)}\n`,
  ...[`cat <<E\n${SECRET}`, `cat <<-E\n${SECRET}\tE`, "<<E\n"],
  `"${BEGIN}${"a1B2c3D4".repeat(6)}"+`,
]);

for (const delimiter of ["'\t'", "E", "'E\tE'", "-E", "-'\t'", "'E"]) {
  test(`many tabs behind the delimiter ${JSON.stringify(delimiter)} take linear time`, () => {
    const timeOf = (count: number): number => {
      const text = `cat <<${delimiter}\n${SECRET}${"\t".repeat(count)}${"E\t".repeat(count)}E\n`;
      const start = process.cpuUsage().user;
      redactText(text);
      return (process.cpuUsage().user - start) / 1_000;
    };
    timeOf(1 << 10);
    assert.ok(timeOf(1 << 18) < 5_000); // in milliseconds; quadratic time is a minute
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
