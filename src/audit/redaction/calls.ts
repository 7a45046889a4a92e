/** Secrets in code that a command runs or writes: among the arguments of functions, and in declarations. */
import { type RedactionRule, VALUE, valueAt } from "./shapes.ts";
import { isSecretName, isSecretValue } from "./values.ts";

const STRING = String.raw`\\?["'][^"'\n]{0,120}["']\s{0,4},\s{0,4}`;
const NAME = String.raw`(?:key|token|secret|pass(?:word|wd|phrase)?|pwd|credentials?)`;
/** The type of a constant, as in `&'static str`, `Final[str]`, `string | undefined` and `String?`. */
const TYPE = String.raw`&?(?:'\w{1,20}\s)?[A-Za-z_][\w.]{0,40}(?:[[<][^\]>\n"'=]{0,60}[\]>])?\??(?:\s?\|\s?[A-Za-z]{1,20}){0,3}`;
const QUOTED = String.raw`(?:"(?<double>[^"\\\n]{1,512})|'(?<single>[^'\n]{1,512}))`;

export const CALL_RULES: readonly RedactionRule[] = [
  valueAt(
    "call-password",
    [
      "auth(",
      "auth=(",
      "auth ",
      "auth (",
      "login(",
      "credential(",
      "credential]::",
      "headervalue(",
      "password(",
    ],
    String.raw`(?<!get_?(?=password))(?:auth|login|credential|headervalue|password)(?:\]::new|=)?\s?\(?\s{0,4}${STRING}(?=["'])`,
    [
      "requests.get(u, auth=('ada', 'hunter2'))",
      `s.login("ada", "hunter2")`,
      "[Net.NetworkCredential]::new('ada','hunter2')",
      "r.basic_auth 'ada', 'hunter2'",
      "get_auth('ada', 'hunter2')",
      `new AuthenticationHeaderValue("Bearer", "hunter2")`,
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
    ["connect(", "connection(", "pdo(", "user("],
    String.raw`(?:(?:connect|pdo|(?<=create_?(?:super)?)user)\(\s{0,4}${STRING}|connection\(\s{0,4}(?:${STRING}|[\w.]{1,60},\s{0,4}))${STRING}(?=["'])`,
    [
      "User.objects.create_superuser('ada', 'ada@example.com', 'hunter2')",
      "new PDO('mysql:host=h','ada','hunter2')",
      `DBI->connect("dbi:mysql:x", "ada", "hunter2")`,
      `DriverManager.getConnection("jdbc:mysql://h/x", "ada", "hunter2")`,
      `DriverManager.getConnection(url, "ada", "hunter2")`,
    ],
    ["connect('h', 'ada')", "connect('h', 'ada', $p)", "create_user('ada', 'a@b.c', password)"],
    QUOTED,
  ),
  {
    id: "named-argument",
    keywords: ["key", "token", "secret", "pass", "pwd", "credential"],
    pattern: new RegExp(
      String.raw`${NAME}(?<=(?:env|variable|property|header|item|environ\.get|env\.fetch|config|set|add|append|default|define|(?<!(?<!\w)(?:in|out))put)\(\s{0,2}["'](?<name>[\w.-]{1,80}))["']\s{0,4},\s{0,4}(?:default\s?=\s?)?${QUOTED}`,
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
      "define('DB_PASSWORD', 'hunter2');",
      `os.environ.get("API_KEY", "hunter2")`,
      "config('SECRET_KEY', default='hunter2')",
    ],
    ignores: [
      `os.Setenv("API_KEY", key)`,
      "select('password', 'email')",
      'Input("Password", "Repeat")',
    ],
  },
  valueAt(
    "set-password",
    ["password("],
    String.raw`(?<=set_?)password\(\s{0,4}(?=\\?["'])`,
    ["user.set_password('hunter2')", `user.setPassword("hunter2")`],
    ["user.set_password(password)", "user.setPassword('')"],
  ),
  {
    id: "typed-value",
    keywords: ["key", "token", "secret", "pass", "pwd", "credential"],
    pattern: new RegExp(
      String.raw`${NAME}(?<=(?<![\w-])(?<name>[\w.-]{1,80}))(?:\s{0,4}:(?:\s{0,4}${TYPE}\s{0,4})?=|\s{1,4}string\s{0,4}=|\s{0,4}\{\s?get;[^}\n"]{0,40}\}\s{0,4}=)\s{0,4}b?(?=\\?["'])${VALUE}`,
      "iy",
    ),
    accepts: (secret, groups) =>
      isSecretName(groups["name"] ?? "") && isSecretValue(secret, groups),
    matches: [
      "export const apiKey: string = 'hunter2';",
      `echo 'API_KEY: Final[str] = "hunter2"' >> f.py`,
      `pub const TOKEN: &'static str = "hunter2";`,
      `apiKey := "hunter2"`,
      `var apiKey string = "hunter2"`,
      `var token: String? = "hunter2"`,
      String.raw`echo "let password: string | undefined = \"hunter2\""`,
      `public string Password { get; set; } = "hunter2";`,
    ],
    ignores: [
      "const apiKey: string = process.env.API_KEY",
      "const sortKey: string = 'name'",
      `token: string = ""`,
      "const tokens: string[] = ['a']",
      'apiKey := os.Getenv("API_KEY")',
    ],
  },
  {
    // The value in place of a variable that is not set.
    id: "fallback-value",
    keywords: ["key", "token", "secret", "pass", "pwd", "credential"],
    pattern: new RegExp(
      String.raw`${NAME}(?<=(?<![\w-])(?<name>[\w.-]{1,80}))\s{0,4}(?::\s?)?=\s{0,4}\$?[A-Za-z_][\w.]{0,80}(?:[[(]["'][\w.-]{1,80}["'][\])])?\s{1,4}(?:\|\||\?\?|\?:|or)\s{1,4}${QUOTED}`,
      "iy",
    ),
    accepts: (secret, groups) =>
      isSecretName(groups["name"] ?? "") && isSecretValue(secret, groups),
    matches: [
      "const token = process.env.TOKEN || 'hunter2';",
      `const password = env.PW ?? "hunter2";`,
      "password = os.getenv('DB_PASSWORD') or 'hunter2'",
      "$password = getenv('DB_PASSWORD') ?: 'hunter2';",
    ],
    ignores: [
      "const token = process.env.TOKEN || '';",
      "const token = a.token || b.token;",
      "const sortKey = params.get('key') ?? 'name';",
      "token = x or y",
    ],
  },
  {
    id: "default-of-variable",
    reach: "next",
    keywords: ["key", "token", "secret", "pass", "pwd", "credential"],
    pattern: new RegExp(
      String.raw`${NAME}(?<=variable\s{1,4}\\?"(?<name>[\w-]{1,80}))\\?"\s{0,4}\{[^{}]{0,300}?\sdefault\s{0,20}=\s{0,4}(?=\\?")${VALUE}`,
      "iy",
    ),
    accepts: (secret, groups) =>
      isSecretName(groups["name"] ?? "") && isSecretValue(secret, groups),
    matches: [
      `variable "db_password" { default = "hunter2" }`,
      'variable "api_token" {\n  type    = string\n  default = "hunter2"\n}',
    ],
    ignores: [
      'variable "db_password" {\n  type = string\n}\nvariable "x" {\n  default = "a"\n}',
      'variable "sort_key" { default = "name" }',
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
