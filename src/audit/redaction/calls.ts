/** Secrets among the arguments of functions, in code that a command runs. */
import { type RedactionRule, VALUE, valueAt } from "./shapes.ts";
import { isSecretName, isSecretValue } from "./values.ts";

const STRING = String.raw`\\?["'][^"'\n]{0,120}["']\s{0,4},\s{0,4}`;
const NAME = String.raw`(?:key|token|secret|pass(?:word|wd|phrase)?|pwd|credentials?)`;
const QUOTED = String.raw`(?:"(?<double>[^"\\\n]{1,512})|'(?<single>[^'\n]{1,512}))`;

export const CALL_RULES: readonly RedactionRule[] = [
  valueAt(
    "call-password",
    ["auth(", "auth=(", "auth ", "auth (", "login(", "credential(", "credential]::", "password("],
    String.raw`(?<!get_?(?=password))(?:auth|login|credential|password)(?:\]::new|=)?\s?\(?\s{0,4}${STRING}(?=["'])`,
    [
      "requests.get(u, auth=('ada', 'hunter2'))",
      `s.login("ada", "hunter2")`,
      "[Net.NetworkCredential]::new('ada','hunter2')",
      "r.basic_auth 'ada', 'hunter2'",
      "get_auth('ada', 'hunter2')",
      "target_login('ada', 'hunter2')",
    ],
    [
      "s.login('ada', password)",
      "login('ada')",
      "auth 'ada'",
      "keyring.get_password('svc', 'ada')",
    ],
    QUOTED,
  ),
  valueAt(
    "connect-password",
    ["connect(", "pdo("],
    String.raw`(?:connect|pdo)\(\s{0,4}(?:${STRING}){2}(?=["'])`,
    ["new PDO('mysql:host=h','ada','hunter2')", `DBI->connect("dbi:mysql:x", "ada", "hunter2")`],
    ["connect('h', 'ada')", "connect('h', 'ada', $p)"],
    QUOTED,
  ),
  {
    id: "named-argument",
    keywords: ["key", "token", "secret", "pass", "pwd", "credential"],
    pattern: new RegExp(
      String.raw`${NAME}(?<=(?:env|variable|property|header|item|set|add|append|(?<!(?<!\w)(?:in|out))put)\(\s{0,2}["'](?<name>[\w.-]{1,80}))["']\s{0,4},\s{0,4}${QUOTED}`,
      "iy",
    ),
    accepts: (secret, groups) =>
      isSecretName(groups["name"] ?? "") && isSecretValue(secret, groups),
    matches: [
      `os.Setenv("API_KEY", "hunter2")`,
      "[Environment]::SetEnvironmentVariable('API_KEY','hunter2','User')",
      "headers.set('X-Api-Key', 'hunter2')",
      "core.setOutput('token', 'hunter2')",
      "page.fill_input('password', 'hunter2')",
    ],
    ignores: [
      `os.Setenv("API_KEY", key)`,
      "select('password', 'email')",
      'Input("Password", "Repeat")',
    ],
  },
  {
    id: "program-variable",
    keywords: ["--arg "],
    pattern: new RegExp(
      String.raw`(?<=\s)--arg\s{1,4}["']?(?<name>[A-Za-z_]\w{0,80})["']?\s{1,4}${VALUE}`,
      "iy",
    ),
    accepts: (secret, groups) =>
      isSecretName(groups["name"] ?? "") && isSecretValue(secret, groups),
    matches: ["jq -n --arg password hunter2 '{p: $password}'", "jq --arg apiToken 'a b' -f x"],
    ignores: [
      'jq -n --arg token "$TOKEN" .',
      "jq --arg key stage1 '.[$key]' x",
      "jq --arg t abc .",
    ],
  },
];
