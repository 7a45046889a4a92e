import assert from "node:assert/strict";
import { test } from "node:test";
import { redactText } from "../../../src/audit/redaction/redact.ts";
import { testLinearTime } from "./linear-time.ts";

const KEYS = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\nstringData:";
const inHere = (manifest: string): string => `kubectl apply -f - <<EOF\n${manifest}\nEOF\nls`;

/** Manifests whose values are covered in any text. */
const COVERED = [
  `${KEYS}\n  a: hunter2`,
  `${KEYS}\n\n  a: hunter2`,
  `${KEYS}\n  a: x1\n\n \t\n  b: hunter2`,
  `${KEYS} # c\n  a: hunter2`,
  `${KEYS}\n  # c\n  a: hunter2\n# d\n  b: hunter2`,
  `${KEYS.replace("Secret", "Secret # c")}\n  a: hunter2`,
  `${KEYS}\n  a: hunter2\n  b: hunter2\n`.replaceAll("\n", "\r\n"),
  `${KEYS} \n  a: hunter2`,
  `${KEYS} {a: hunter2}`,
  `${KEYS} { a: "x", 'b': 'hunter2' }`,
  `${KEYS} {\n  a: hunter2,\n  b: hunter2\n}`,
  `${KEYS}\n  a: |\n    hunter2`,
  `${KEYS}\n  a: |-\n    hunter2\n\n    hunter2\n  b: >2+\n    hunter2\n  c: hunter2`,
  `${KEYS}\n  config.yaml: |\n    x: hunter2\n    y:  z\n  other: hunter2`,
  `${KEYS}\n  a: $A\n  b: hunter2`,
  `${KEYS}\n  a: "\${A}"\n  b: hunter2`,
  `${KEYS}\n  a:\thunter2`,
  "- kind: Secret\n  stringData:\n    a: hunter2",
];

for (const manifest of [
  ...COVERED,
  ...COVERED.map(inHere),
  ...[
    `${KEYS}\n  a: |\n    my hunter2 phrase\n  b: hunter2`,
    `${KEYS}\n  a: >-\n    one\n    (hunter2) & <b>; c | d\n\n    hunter2 two`,
    `${KEYS}\n  a.json: |\n    { "a": "hunter2",\n      "b": 1 }\n  b: hunter2`,
    `${KEYS}\n  a: "one\n    hunter2"`,
    `${KEYS}\n  url: jdbc:h?u=a&p=hunter2;x`,
    `${KEYS} {a: "x;y}", b: hunter2}`,
    `${KEYS}\n  a: |\n    # hunter2`,
    `${KEYS}\n  a: |\n    my phrase\n---\n${KEYS}\n  a: |\n    my hunter2 phrase`,
  ].map(inHere),
  `cd "a b" && cat <<EOF\n${KEYS}\n  a: |\n    my hunter2 phrase\nEOF`,
  `cd "a b" && sh -c 'cat <<EOF\n${KEYS}\n  a: |\n    my hunter2 phrase\nEOF'`,
  `cat <<-'EOF'\n${KEYS}\n  a: |\n    my hunter2 phrase\nEOF`.replaceAll(/^(?!cat)/gm, "\t"),
]) {
  test(`the values are covered: ${JSON.stringify(manifest)}`, () => {
    const { text } = redactText(manifest);
    assert.doesNotMatch(text, /hunter2/);
    assert.match(text, /kind: Secret[^]*stringData:/);
    assert.equal(redactText(text).text, text, "a second time changes nothing");
  });
}

for (const text of [
  `${KEYS}\n  a: |\n    rm -rf /`,
  `${KEYS}\n  a: >-\n    rm -rf /`,
  `${KEYS}\n  a: x\n    rm -rf /`,
  `${KEYS}\n  a: x\n rm -rf /`,
  `${KEYS}\n  a: x; rm -rf /`,
  `${KEYS}\n  # c\n  rm -rf /`,
  `${KEYS} {a: x}; rm -rf /`,
  `${KEYS} {a: 'x; rm -rf /'}`,
  `${KEYS} {a: $(rm -rf /)}`,
  `cat <<EOF\n${KEYS}\n  a: x\nEOF\n  rm -rf /`,
  `cat <<EOF\nEOF\n${KEYS}\n  a: |\n    rm -rf /`,
  `cat <<EOF\nkind: Secret\nEOF\nstringData:\n  a: |\n    rm -rf /`,
  `cat <<-EOF\n${KEYS}\n  a: x\n\tEOF\n  rm -rf /`,
  `cat <<EOF\n${KEYS}\n  a: |\n    $(rm -rf /)\nEOF`,
  `cat <<EOF\n${KEYS}\n  a: |\n    \`rm -rf /\`\nEOF`,
  `: "<<EOF"\n${KEYS}\n  a: |\n    rm -rf /`,
  `: "<<EOF\n${KEYS}"\n  a: x; rm -rf /`,
  `: "<<EOF\n${KEYS}\n  a: x"; rm -rf /`,
  `echo "\ncat <<EOF\n${KEYS}\n  a: x"; rm -rf /`,
  `echo '\ncat <<EOF\n${KEYS}\n  a: x'; rm -rf /`,
  `echo "a" 'b\ncat <<EOF\n${KEYS}\n  a: |\n    x'; rm -rf /; echo '`,
  `: # <<EOF\n${KEYS}\n  a: |\n    rm -rf /`,
  `: $((1<<EOF))\n${KEYS}\n  a: |\n    rm -rf /`,
]) {
  test(`redaction hides no command: ${JSON.stringify(text)}`, () => {
    assert.match(redactText(text).text, /rm -rf \//);
  });
}

for (const text of [
  inHere("kind: ConfigMap\ndata:\n  a: |\n    two words"),
  inHere(`${KEYS}\n  a: $A`),
  inHere(`${KEYS}\n`),
  `${KEYS}\n`,
  `${KEYS} {}`,
  "kind: SealedSecret\nstringData:\n  a: b",
]) {
  test(`the text stays: ${JSON.stringify(text)}`, () => {
    assert.equal(redactText(text).text, text);
  });
}

testLinearTime([
  "data:\n",
  "kind: Secret\ndata:\n",
  "cat <<E\nkind: Secret\ndata:\n",
  "kind: Secret\ndata:\n  a: |\n",
  "kind: Secret\ndata:\n\n\n\n\n\n  #\n",
  "<<E\nkind: Secret\ndata:\n\n\n  #\n#\n",
  "kind: Secret\ndata: {a: \"\"''",
  '<<E\nkind: Secret\ndata: {a: b"c',
  "  kind: Secret\n  b: c\n  data: \n",
]);
