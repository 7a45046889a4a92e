import assert from "node:assert/strict";
import { test } from "node:test";
import { testLinearTime } from "./linear-time.ts";
import { redactText } from "./redact-text.ts";

for (const text of [
  "KRB5CCNAME=/tmp/c kinit ada <<< hunter2",
  "A=1 B=2 C=3 kinit ada <<< hunter2",
  "time kinit ada <<< hunter2",
  "timeout 5 kinit ada <<< hunter2",
  "sudo env A=1 kinit ada <<< hunter2",
  "! kinit ada <<< hunter2",
  "exec kinit ada <<< hunter2",
  "command kinit ada <<< hunter2",
  "\tkinit ada <<< hunter2",
  "if true\nthen\n\t\t\t\t\t\t\t\t\tkinit ada <<< hunter2\nfi",
  "if kinit ada <<< hunter2; then ls; fi",
  "if ls; then kinit ada <<< hunter2; fi",
  "if ls; then cd; else kinit ada <<< hunter2; fi",
  "for x in a; do kinit $x <<< hunter2; done",
  "while ! kinit ada <<< hunter2; do sleep 1; done",
  "until kinit ada <<< hunter2; do sleep 1; done",
  "{ kinit ada <<< hunter2; }",
  "(kinit ada <<< hunter2)",
  "( kinit ada <<< hunter2 )",
  "ls && A=1 kinit ada <<< hunter2",
  "sh -c 'A=1 kinit ada <<< hunter2'",
  "echo hunter2 | KRB5CCNAME=/tmp/c kinit ada",
  "echo hunter2 | timeout 5 kinit ada",
  "sudo -S sh -c 'apt update' <<< hunter2",
  "echo hunter2 | sh -c 'gh auth login --with-token'",
]) {
  test(`the secret is taken out of the input: ${JSON.stringify(text)}`, () => {
    const redacted = redactText(text).text;
    assert.doesNotMatch(redacted, /hunter2/);
    assert.equal(redactText(redacted).text, redacted, "a second time changes nothing");
  });
}

for (const text of [
  "grep passwd <<< hello",
  "A=1 grep passwd <<< hello",
  "sudo grep passwd <<< hello",
  "sudo -n grep passwd <<< hello",
  "sudo -u ada grep passwd <<< hello",
  "timeout 5 grep passwd <<< hello",
  "time -p grep passwd <<< hello",
  "if grep -q passwd <<< hello; then ls; fi",
  "xargs grep passwd <<< hello",
  "ssh host grep passwd <<< hello",
  "<<< hello grep passwd",
  "<<< hello cat",
  "cat <<< hello | grep passwd",
  "cat <<< hello | sudo tee /etc/motd",
  "cat <<< hello; kinit ada",
  "cat <<< $PASS | kinit ada",
  "echo hello | sudo grep passwd",
  "echo hello | env A=1 sort",
  "cat <<EOF | sudo grep passwd\nhello\nEOF",
  "KRB5CCNAME=/tmp/c kinit ada <<< $PASS",
  "env -u kinit bash <<< 'rm -rf /srv'",
  "exec -a passwd bash <<< 'rm -rf /srv'",
  "echo 'rm -rf /srv' | env -u kinit bash",
  "docker exec -u a kinit bash <<< 'rm -rf /srv'",
  "ssh -i k passwd 'bash -s' <<< 'rm -rf /srv'",
  "<<< 'rm -rf /srv' sh -s -- --with-token",
  "sh -s -- --with-token <<< 'rm -rf /srv'",
  "/bin/bash -s secret set <<< 'rm -rf /srv'",
  "echo 'rm -rf /srv' | sh -s -- --with-token",
  "echo 'rm -rf /srv' | /bin/bash -s --password-stdin",
  "sh -s -- --with-token <<EOF\nrm -rf /srv\nEOF",
]) {
  test(`the input of another program stays: ${JSON.stringify(text)}`, () => {
    assert.equal(redactText(text).text, text);
  });
}

testLinearTime([
  "A=1 ",
  "sudo ",
  "sudo -u a ",
  "sudo -u 5 ",
  "timeout -k 5 5 ",
  "A=1 kinit <<<a ",
  "; sudo -u sudo -n 5 kinit <<<a",
  "echo a | sudo env A=1 -u 5 ",
  "<<<a sudo -u a env ",
  `x ${"timeout -n 5 5 timeout -u 5 -n 5 5 ".repeat(3)}kinit <<<a`,
  `echo a | ${"timeout -n 5 5 timeout -u 5 -n 5 5 ".repeat(3)}`,
  "cat <<< a | sudo -n 5 ",
  "\ncat <<< 'a'\"b\"c",
]);
