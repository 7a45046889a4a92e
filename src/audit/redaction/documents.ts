/** Secrets in files that are part of a text: private keys and manifests. */
import { type RedactionRule, sample as x } from "./shapes.ts";

/** The text between the lines of a key: ends of lines, also as code writes them, quotes, indents, numbers and signs of comments. */
const BREAK = String.raw`(?:[\s"'+,#>*/\\]|(?<=\\)[nr]|%0[AaDd]|<br ?\/?>|\d{1,5}[:\t ]){0,40}`;
const KEY_HEADER = String.raw`[A-Z][A-Za-z-]{2,20}: ?(?:"[\w .,:/=+@()-]{1,100}"|[\w .,:/=+@()-]{1,200})`;
/**
 * A line of a key: a header, or a long word of base64. Other text between the marks of a key could be commands. A shorter
 * word must have capitals, small letters and digits, or be the last one.
 */
const KEY_LINE = String.raw`${BREAK}(?:${KEY_HEADER}|[\w+/]{40,8192}={0,2}|(?=[a-z\d+/]{0,30}[A-Z])(?=[A-Z\d+/]{0,30}[a-z])(?=[A-Za-z+/]{0,30}\d)[\w+/]{16,39}={0,2}|=?[\w+/]{1,80}={0,2}(?=${BREAK}(?:=[\w+/]{4}${BREAK})?(?:----|Private-MAC)))`;
/** Blank lines and comments, and a name in a manifest, deeper than the line of the group `indent`. */
const ENTRY = String.raw`(?:\n[ \t]{0,40}(?:#[^\r\n$\x60;|&<>()]{0,200})?\r?(?=\n)){0,8}\n\k<indent>[ \t]{1,8}["']?[\w.-]{1,253}["']?:[ \t]{1,4}`;
const VARIABLE_LINE = String.raw`["']?\$(?:\w{1,80}|\{\w{1,80}\})["']?[ \t]{0,4}\r?(?=\n|$)`;
/** A value that could not run a command in a shell, up to the end of the line or of the quotes around the manifest. */
const VALUE_LINE = String.raw`(?![\\"']{0,8}\$|\s)(?:[^\n$\x60;|&<>()]|\$(?![({])){1,65536}?(?=\n|["'\\]{0,8}[ \t]{0,4}(?:[|)]|$))`;

export const DOCUMENT_RULES: readonly RedactionRule[] = [
  {
    id: "private-key",
    keywords: ["-----begin", "---- begin", "private-lines:"],
    reach: "quotes",
    pattern: new RegExp(
      String.raw`(?:-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----|Private-Lines: \d{1,4})(?<secret>${KEY_LINE})`,
      "y",
    ),
    continues: new RegExp(KEY_LINE, "y"),
    matches: [
      `echo -----BEGIN RSA PRIVATE KEY-----\n${x(60)}`,
      `-----BEGIN RSA PRIVATE KEY-----\n${x(60)}\n-----END RSA PRIVATE KEY-----`,
      `printf '-----BEGIN PRIVATE KEY-----\\n${x(60)}\\n-----END PRIVATE KEY-----'`,
      `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${x(64)}\n${x(20)}=\n-----END`,
    ],
    ignores: [
      "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
      'grep -l "-----BEGIN RSA PRIVATE KEY-----" *; ls',
      ": -----BEGIN PRIVATE KEY-----\nrm -r /srv; ls -l | sort\n: -----END PRIVATE KEY-----",
      "# -----BEGIN PRIVATE KEY-----\nrm -r /srv /usr/share /usr/local /var/lib",
    ],
  },
  {
    // The lines of a manifest below `data:` or `stringData:`, down to one that could run a command in a shell.
    id: "kubernetes-secret",
    reach: "lines",
    keywords: ["data:", 'data":'],
    pattern: new RegExp(
      String.raw`data["']?:(?<=(?<=\bkind:\s{1,2}["']?Secret\b(?:(?!\n---)[^]){0,2000}\n)(?<indent>[ \t]{0,16})["']?(?:stringData|data)["']?:)[ \t]{0,4}(?:#[^\r\n]{0,200})?\r?(?:${ENTRY}${VARIABLE_LINE}){0,100}(?<secret>${ENTRY}${VALUE_LINE}(?:${ENTRY}(?:${VARIABLE_LINE}|${VALUE_LINE})){0,500})`,
      "iy",
    ),
    matches: [
      "kubectl apply -f - <<EOF\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  url: hunter2\n  b: x\nEOF",
      "printf 'kind: Secret\ndata:\n  dsn: aHVudGVyMg==' | kubectl apply -f -",
      'kind: Secret\nstringData:\n  user: $DB_USER\n  url: hunter2\n  a: "$A"\n',
      "kind: Secret\r\nstringData: # c\r\n\r\n  # d\r\n  url: hunter2\r\n\r\n  b: x\r\n",
    ],
    ignores: [
      "kind: ConfigMap\ndata:\n  stage: prod",
      "kind: Secret\nstringData:\n  url: $URL",
      "kind: Secret\nstringData:\n  url: $(rm -r x)",
      "kind: Secret\nstringData:\n  url: x; rm -r x",
      "kind: Secret\nstringData:\n  # c\n  rm -r x",
      "kind: Secret\nmetadata:\n  name: a\n---\nkind: ConfigMap\ndata:\n  stage: prod",
    ],
  },
];
