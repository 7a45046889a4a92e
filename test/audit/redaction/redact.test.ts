import assert from "node:assert/strict";
import { test } from "node:test";
import { ownRules } from "../../../src/audit/redaction/own-rules.ts";
import { commonRedactor, redactEvent, Redactor } from "../../../src/audit/redaction/redact.ts";
import { PROGRAM_RULES } from "../../../src/audit/redaction/programs.ts";
import { REDACTION_RULES } from "../../../src/audit/redaction/rules.ts";
import { HARMLESS } from "../../policies/shell/command-lines.ts";
import { partsOf } from "../../support/parts-of.ts";
import { testLinearTime } from "./linear-time.ts";
import { redactText } from "./redact-text.ts";

for (const { id, keywords } of REDACTION_RULES) {
  test(`${id}: its keywords are in lower case and not too short`, () => {
    const isKeyword = (text: string): boolean => text.length >= 3 && text === text.toLowerCase();
    assert.ok(keywords.length > 0 && keywords.every(isKeyword));
  });
}

for (const { id, matches, ignores } of [...REDACTION_RULES, ...PROGRAM_RULES]) {
  test(`${id}: its examples are redacted, and its counter-examples are not`, () => {
    assert.ok(matches.length > 0 && ignores.length > 0);
    for (const example of matches) {
      const { text, redactions } = redactText(example);
      assert.notEqual(text, example, example);
      assert.ok(
        redactions.some(({ rule }) => rule === id),
        `${example}: ${JSON.stringify(redactions)}`,
      );
      assert.equal(redactText(text).text, text, "a second time changes nothing");
      assert.deepEqual(redactText(text).redactions, []);
    }
    for (const example of ignores) assert.equal(redactText(example).text, example);
  });
}

for (const [before, after] of [
  ["mysql -u root -phunter2 db", "mysql -u root -p[redacted:mysql-password] db"],
  ["git clone https://ada:pw@h/x", "git clone https://ada:[redacted:url-password]@h/x"],
  ["x --password 'a b' y", "x --password '[redacted:option-value]' y"],
  ["API_TOKEN=p@ss,]w0rd make", "API_TOKEN=[redacted:named-value] make"],
  ["API_TOKEN=Ns,,LL,],}9 make", "API_TOKEN=[redacted:named-value] make"],
  ["f(api_token=abc9, x)", "f(api_token=[redacted:named-value], x)"],
  ["x '[token=abc9,]' y", "x '[token=[redacted:named-value],]' y"],
  ["API_TOKEN=Zq8\\w+Kp3 make", "API_TOKEN=[redacted:named-value] make"],
  ["cat <<E\npassword: aB3\\s*x\nE", "cat <<E\npassword: [redacted:labelled-value]\nE"],
  ["A_KEY=abc B=1 make", "A_KEY=[redacted:named-value] B=1 make"],
  ["curl -u ada:pw https://h", "curl -u ada:[redacted:curl-user] https://h"],
  [
    "curl -H 'Authorization: Bearer abcdef'",
    "curl -H 'Authorization: Bearer [redacted:authorization-header]'",
  ],
] as const) {
  test(`program, option and name stay readable: ${before}`, () => {
    assert.equal(redactText(before).text, after);
  });
}

test("texts without secrets stay as they are", () => {
  const texts = [
    ...HARMLESS,
    "kubectl get secret",
    "git commit -m 'rotate the key'",
    "cat token.txt",
  ];
  for (const text of texts) assert.equal(redactText(text).text, text);
});

test("several secrets of one text are counted by rule", () => {
  const { redactions } = redactText("A_TOKEN=a B_TOKEN=b curl -u c:d x");
  assert.deepEqual(redactions, [
    { rule: "named-value", count: 2 },
    { rule: "curl-user", count: 1 },
  ]);
});

test("an event is redacted in its four free texts, and stays the same object without secrets", () => {
  const secret = "API_KEY=abc";
  const event = {
    command: secret,
    message: secret,
    reason: secret,
    resource: secret,
    status: secret,
  };
  const { status, ...rest } = redactEvent(event) ?? assert.fail();
  assert.equal(status, secret);
  assert.deepEqual([...new Set(Object.values(rest))], ["API_KEY=[redacted:named-value]"]);
  const clean = { command: "ls", message: undefined };
  assert.equal(redactEvent(clean), clean);
});

/** Texts at which a careless pattern would take the square of their length. */
const HOSTILE = [
  ...[
    "-----BEGIN PRIVATE KEY-----",
    "://a:",
    "authorization: ",
    "eyJaaaaaaaa.",
    "ghp_",
    "password",
  ],
  ...[
    "mysql a ",
    "mysql -",
    "curl a ",
    "curl 'a' ",
    "KEY=",
    "a_key",
    "--a-",
    "--token ",
    "sk-",
    "SG.",
  ],
  ...["zip zip ", "cookie: a", "docker login a ", "?sig=", "_", "a.", '"token": ', "[redacted:"],
  ...[
    "KEY='$",
    'KEY="a\\',
    "a_key_key",
    "passpass",
    "KEY='a;",
    "echo a|sudo ",
    "pulumi config set ",
  ],
  ...["AUTH=", "AUTH=a:", "COOKIE=1a", "PIN=1"],
  ...["mysql 'a", 'curl "', "aio_", "eyJ-eyJ", "bearer a", "x-key", "identified by ", "--secret "],
  ...[
    "vault login ",
    "<token>",
    "setx a",
    "\u212a",
    "\u0130token=",
    "pass:",
    "key = ",
    "secret: a",
  ],
  // Commands that end, and those that go on: their secrets wait in a queue.
  ...["curl -u a:b;", "curl -u a:b\n", "curl -u a:b ", "redis-cli -a ", "http -a a:b "],
  ...[
    "<<<",
    "<<<a",
    "echo x | ",
    "mysql -p'",
    'mysql -p"',
    "sshpass -p a mysql -p",
    `${"://".repeat(99)}" @`,
  ],
];

testLinearTime(HOSTILE);

for (const [what, text] of [
  [
    "values without a header",
    `${" digest ".repeat(120)},response=${"x".repeat(1_000)}`.repeat(1_024),
  ],
  ["keys without an end", "Private-Lines: 1%".repeat(1 << 14)],
] as const) {
  test(`a text of ${what} is redacted in well below a second`, () => {
    redactText(text.slice(0, 4_096));
    const start = process.cpuUsage();
    redactText(text);
    const { user, system } = process.cpuUsage(start);
    assert.ok(user + system < 1_000_000, `${user + system} µs`);
  });
}

for (const [what, text, least] of [
  ["of many parts", `password=${"a'b'".repeat(1 << 18)}`, 1 << 10],
  ["behind many keywords", `${"nmcli ".repeat(30)} password ${"a'b'".repeat(1 << 18)}`, 1 << 10],
  ["in escaped quotes", `KEY=\\"${"ab".repeat(1 << 19)}`, 1 << 4],
] as const) {
  test(`a value ${what} is read in short parts of the work`, () => {
    const parts = 1 + partsOf(commonRedactor.redactInParts(text));
    // At most 1,024 pieces, or 64 KiB of a pattern, are read in one part.
    assert.ok(parts > least, String(parts));
  });
}

for (const length of [1, 2, 3, 5, 8, 13, 21]) {
  test(`a long command is redacted once, whatever mark is cut by the limit (offset ${length})`, () => {
    const { text } = redactText(`mysql ${"x".repeat(length)} ${"-pa9 ".repeat(10_000)}`);
    assert.ok(redactText(text).text === text, "a second time changes nothing");
  });
}

/** A redactor with a hundred literals or names of an organization. */
function redactorOf(key: string, textOf: (index: number) => string): Redactor {
  const value = Array.from({ length: 100 }, (_, index) => textOf(index)).join(",");
  return new Redactor([...ownRules([{ key, value }]), ...REDACTION_RULES]);
}

for (const [what, key, textOf] of [
  ["literals", "audit.redact.literals", (index: number) => `${"a".repeat(250)}b${index}`],
  ["names", "audit.redact.names", (index: number) => `${"a".repeat(60)}b${index}`],
  ["names within names", "audit.redact.names", (index: number) => "a".repeat(3 + (index % 62))],
] as const) {
  test(`searching a similar text for an organization's own ${what} takes few steps`, () => {
    const redactor = redactorOf(key, textOf);
    const start = process.cpuUsage();
    redactor.redact("a".repeat(1 << 15));
    const { user, system } = process.cpuUsage(start);
    // Comparing all of them at each place takes half a minute.
    assert.ok((user + system) / 1_000 < 3_000);
  });
}

test("of an organization's names that end alike the shortest is tried, once", () => {
  const own = ownRules([{ key: "audit.redact.names", value: "MY_PIN,pin,pin,my_pin,x_badge" }]);
  assert.deepEqual(new Set(own.flatMap(({ keywords }) => keywords)), new Set(["pin", "x_badge"]));
  const { text } = new Redactor(own).redact("MY_PIN=ab12 other_pin=cd34 X_BADGE=ef56 badge=gh78");
  const mark = "[redacted:name]";
  assert.equal(text, `MY_PIN=${mark} other_pin=${mark} X_BADGE=${mark} badge=gh78`);
});

test("an organization's own literals are replaced everywhere, in their exact letter case", () => {
  const own = [
    { key: "audit.redact.literals", value: "sesame,sesame street,ame st,mark[redacted:" },
  ];
  const redactor = new Redactor([...ownRules(own), ...REDACTION_RULES]);
  const mark = "[redacted:literal]";
  for (const [before, after] of [
    ["sesame sesamesesame Sesame", `${mark} ${mark}${mark} Sesame`],
    ["open sesame street", `open ${mark} street`],
    ["a flame stood", `a fl${mark}ood`],
    ["TOKEN=sesame x", "TOKEN=[redacted:named-value] x"],
    ["mark[redacted:x] sesame", `mark[redacted:x] ${mark}`],
  ] as const) {
    assert.equal(redactor.redact(before).text, after);
  }
});

for (const text of [
  '["mysql", "-phunter2", "-u", "ada"]',
  '{"args":["docker","login","-u","ada","-p","hunter2"]}',
  "['curl', '--user', 'ada:hunter2']",
  "subprocess.run(['sshpass','-p','hunter2','ssh'])",
]) {
  test(`the arguments in ${text} are read as those of a command`, () => {
    assert.doesNotMatch(redactText(text).text, /hunter2/);
  });
}

test("a dash inside of a word does not begin an option", () => {
  for (const text of ["docker ps registry.example.com/team-33/web", "unzip team-1/a-b.zip"]) {
    assert.equal(commonRedactor.mayApply(text), false, text);
  }
  for (const text of ["unzip -qP hunter2 a.zip", "unzip a.zip -qP hunter2"]) {
    assert.match(redactText(text).text, /redacted/, text);
  }
});

for (const text of [
  `"mysql" -u root -phunter2 db`,
  String.raw`& "C:\Program Files\MySQL\bin\mysql.exe" -u root -phunter2`,
  `"/usr/bin/docker" login -u ada -p hunter2 reg`,
  `'curl' -u ada:hunter2 https://example.com`,
  `"mysql.exe" "-phunter2"`,
]) {
  test(`a program in quotes has options: ${text}`, () => {
    assert.doesNotMatch(redactText(text).text, /hunter2/);
  });
}

for (const text of [
  `git commit -m "update mysql" -phunter2`,
  `gh pr create --title "Fix curl" -b "x=hunter2"`,
  `echo "mysql"\n-phunter2`,
]) {
  test(`a quoted text that ends in a program's name is none: ${text}`, () => {
    assert.equal(redactText(text).text, text);
  });
}

test("texts that only look like secrets are not redacted in parts", () => {
  for (const text of [
    "az vm start --name web --subscription team-23-prod-eu",
    'mongosh --eval "rs.status()"',
    'curl --json "{}" https://api.example.com/orders',
    'curl --upload-file report.csv "https://files.example.com"',
    'gh issue comment 1705 --body "Fixed in 1.10.2"',
    "openssl req -x509 -key key.pem -days 200 -out cert.pem",
    "redis-cli --scan --pattern 'session:*'",
  ]) {
    assert.equal(commonRedactor.mayApply(text), false, text);
  }
});

for (const text of [
  `mongosh -"p" hunter2`,
  `mongosh "-"p hunter2`,
  String.raw`mongosh \-p hunter2`,
  `docker lo"gin" -p hunter2 reg`,
  `docker "login" '-p' hunter2 reg`,
  String.raw`curl --us\er ada:hunter2 x`,
  `export DB_PASSWORD''='hunter2'`,
  `vault operator "unsea"l hunter2`,
  `psql postgres://'u:hunter2'@db/x`,
  `poetry config pypi-token."pypi" hunter2`,
  `xfreerdp /u:ada /'p:hunter2' /v:h`,
  `signtool sign /"p" hunter2 x.exe`,
]) {
  test(`quotes inside of a word do not hide a secret: ${text}`, () => {
    assert.doesNotMatch(redactText(text).text, /hunter2/);
  });
}

for (const text of [
  "unzip '-qP' hunter2 a.zip",
  'unzip "-P" hunter2 a.zip',
  "unzip '-Phunter2' a.zip",
  "curl '-su' ada:hunter2 https://example.com",
  'curl "--user" "ada:hunter2" https://example.com',
  "sshpass '-p' 'hunter2' ssh host",
]) {
  test(`an option in quotes takes its value: ${text}`, () => {
    assert.doesNotMatch(redactText(text).text, /hunter2/);
  });
}
