/** Secrets that are recognised by the words before them, in a command or another text. */
import { type RedactionRule, VALUE, valueAt } from "./shapes.ts";
import { isSecretValue } from "./values.ts";

/** Words between a program and the place of the secret. */
const WORDS = String.raw`(?:\s{1,4}(?!-)[^\s;&|]{1,80}){1,4}`;
const FLAGS = String.raw`(?:\s{1,4}-[\w-]{1,20})`;
const NAME = String.raw`[\w.-]{0,60}(?:key|token|secret|password|passwd|pwd|credentials?)\b`;

export const PLACE_RULES: readonly RedactionRule[] = [
  valueAt(
    "set-variable",
    ["setx ", "setenv ", "set-environment ", "set -", "env "],
    String.raw`(?<![\w-])(?:setx|setenv|set-environment|set\s{1,4}-{1,2}\w{0,10}x\w{0,10}|env)\s{1,4}${NAME}\s{1,4}`,
    ["setx API_TOKEN abc", "set -gx GITHUB_TOKEN abc", "ENV DB_PASSWORD hunter2"],
    ["set -x", "setx PATH abc", "env API_KEY=$X make"],
  ),
  valueAt(
    "saved-value",
    ["configure ", "config "],
    String.raw`config(?:ure)?\s{1,4}(?<=\b(?:aws|p?npm|yarn|pip3?|git)\s{1,4}config(?:ure)?\s{1,4})(?:set\s{1,4})?${FLAGS}{0,4}\s{0,4}(?!\S{0,60}(?:key_id|helper|signingkey)\b)\S{0,200}(?:key|token|secret|password|_auth)(?:\s{1,4}|=)`,
    [
      "aws configure set aws_secret_access_key abc/def",
      "npm config set //registry.npmjs.org/:_authToken abc",
    ],
    ["aws configure set region eu-west-1", "git config user.signingkey ABCDEF01"],
  ),
  {
    id: "pulumi-secret",
    keywords: ["pulumi "],
    pattern: new RegExp(
      String.raw`pulumi\s{1,4}config\s{1,4}set(?=[^\n;&|]{0,200}--secret)(?:\s{1,4}-\S{1,60}){0,6}\s{1,4}(?!-)[^\s;&|]{1,100}(?:\s{1,4}-\S{1,60}){0,6}\s{1,4}(?!-)${VALUE}`,
      "y",
    ),
    accepts: isSecretValue,
    matches: ["pulumi config set --secret dbPassword hunter2"],
    ignores: ["pulumi config set region eu", "pulumi config set --secret dbPassword"],
  },
  valueAt(
    "netrc-password",
    ["login "],
    String.raw`login\s{1,4}[^\s"',;]{1,200}\s{1,4}password\s{1,4}`,
    ["machine example.com login ada password hunter2"],
    ["login failed, password wrong"],
  ),
  valueAt(
    "short-name",
    ["pw=", "pat=", "key_base=", "_auth=", "secret_id="],
    String.raw`(?:(?<![A-Za-z0-9])pw|(?<=_)pat|key_base|(?<=(?<![A-Za-z0-9])(?:redis|rediscli|valkey|api|http|basic|proxy|npm|docker|registry)?)_auth|secret_id)=`,
    [
      "PW=hunter2 x",
      "GH_PAT=abc x",
      "REDISCLI_AUTH=abc redis-cli",
      "API_AUTH=abc x",
      "npm _auth=abc",
    ],
    ["USE_AUTH=true x", "REDIS_AUTH=$A x", "path=/a"],
  ),
  valueAt(
    "secret-argument",
    ["mysqladmin ", "encrypt_string ", "--from-literal", "http-basic.", "pypi-token."],
    String.raw`(?:mysqladmin\s[^\n;|&]{0,120}?\spassword\s{1,4}|encrypt_string\s{1,4}(?!-)|--from-literal(?<=\bsecret\b[^\n;|&]{0,300})(?:=|\s{1,4})["']?[\w.-]{1,100}=|http-basic\.\S{1,100}\s{1,4}[^\s-]\S{0,100}\s{1,4}|pypi-token\.[\w.-]{1,100}[ \t]{1,4}(?!-))`,
    [
      "mysqladmin -u root password hunter2",
      "ansible-vault encrypt_string 'hunter2' --name x",
      "kubectl create secret generic x --from-literal=a=hunter2",
      "composer config http-basic.example.com ada hunter2",
      "poetry config pypi-token.pypi abc",
    ],
    [
      "mysqladmin status",
      "kubectl create configmap x --from-literal=a=b",
      "poetry config pypi-token.pypi --unset",
      "poetry config --unset pypi-token.pypi\nls",
    ],
  ),
  valueAt(
    "word-before",
    ["nmcli ", "rclone config ", "redis-cli ", "valkey-cli "],
    String.raw`(?:nmcli\s[^\n;|&]{1,200}?\s(?:password|(?:802-11-wireless-security|wifi-sec)\.psk)|rclone\s{1,4}config\s[^\n;|&]{1,200}?\s(?:pass|\w{0,40}(?:key|secret|token|password))|(?:redis|valkey)-cli\s[^\n;|&]{0,120}?(?<=\s)auth(?:\s{1,4}[\w.-]{1,60}(?=\s{1,4}[^\s;|&]))?)[ \t]{1,4}(?!-)`,
    [
      "nmcli d wifi connect net password hunter2",
      "rclone config create r s3 secret_access_key abc",
      "redis-cli -h r AUTH hunter2",
      "redis-cli AUTH ada hunter2",
    ],
    ["nmcli d wifi", "rclone config show", "redis-cli get author x", "redis-cli AUTH $P"],
  ),
  valueAt(
    "share-password",
    ["net use "],
    // The password follows the share or the user.
    String.raw`(?<![\w-])net\s{1,4}use\s(?:[^\n;|&]{0,300}?\/u(?:ser)?:[^\s;|&]{1,100}|(?:\s{0,4}[^\s\\/"';|&]{1,60}\s)?\s{0,4}["']?\\[^\s;|&]{1,200})[ \t]{1,4}(?!["']?[/*])`,
    [
      String.raw`net use \\s\share /user:corp\ada hunter2`,
      String.raw`net use Z: \\s\share hunter2 /user:ada`,
      String.raw`net use Z: \\s\share "hunter 2"`,
    ],
    [
      String.raw`net use Z: \\s\share /user:ada`,
      String.raw`net use Z: \\s\share * /user:ada /persistent:no`,
      "net use Z: /delete",
      "net use is a command",
    ],
  ),
  valueAt(
    "key-password",
    ["pass:"],
    String.raw`(?<![\w-])["']?pass:`,
    ["openssl rsa -passin pass:hunter2 -in k"],
    ["openssl rsa -passin env:P", "bypass:x"],
  ),
  valueAt(
    "sql-password",
    ["identified ", "password '", 'password "', "set password"],
    String.raw`(?:identified\s{1,4}(?:with\s{1,4}\S{1,60}\s{1,4})?(?:by|as)\s{1,4}(?:password\s{1,4})?|(?<=\b(?:with|encrypted|user|role)\b[^;]{0,100})password\s{1,4}|set\s{1,4}password\s{1,4}(?:for\s{1,4}\S{1,100}\s{0,4})?=\s{0,4})(?:password\()?(?=\\?["'])`,
    [
      `mysql -e "CREATE USER a IDENTIFIED BY 'hunter2'"`,
      `psql -c "ALTER ROLE a WITH PASSWORD 'hunter2'"`,
    ],
    ["identified by the operator", "password 'x' is too short"],
  ),
  valueAt(
    "secure-string",
    ["convertto-securestring"],
    String.raw`convertto-securestring\s{1,4}(?:-asplaintext\s{1,4}|-force\s{1,4}|-string\s{1,4}){0,3}(?!-)`,
    ['ConvertTo-SecureString "hunter2" -AsPlainText -Force'],
    ["ConvertTo-SecureString $p -AsPlainText"],
  ),
  {
    id: "element-value",
    keywords: ["key>", "token>", "secret>", "password>", "passwd>", "pwd>"],
    pattern:
      /(?:key|token|secret|password|passwd|pwd)>(?<=<[\w.:-]{1,80}>)(?<secret>[^<>\s][^<>]{0,4096})(?=<\/)/iy,
    matches: ["<password>hunter2</password>"],
    ignores: ["<password></password>", "echo $TOKEN>file"],
  },
  valueAt(
    "htpasswd",
    ["htpasswd "],
    String.raw`htpasswd\s{1,4}-[A-Za-z]{0,4}b[A-Za-z]{0,4}${WORDS}\s{1,4}`,
    ["htpasswd -bc users ada hunter2"],
    ["htpasswd users ada"],
  ),
  valueAt(
    "oracle-password",
    ["sqlplus ", "expdp ", "impdp ", "rman ", "sqlldr "],
    String.raw`(?:sqlplus|expdp|impdp|rman|sqlldr)${FLAGS}{0,3}\s{1,4}(?:target\s{1,4}|userid=)?["']?[A-Za-z]\w{0,60}\/`,
    ["sqlplus scott/tiger@orcl"],
    ["sqlplus /nolog", "sqlplus scott/$PW@orcl"],
    String.raw`(?<secret>[^\s@"'/;&|<>()]{1,128})`,
  ),
  valueAt(
    "login-argument",
    ["vault login", "mc alias set", "mc config host", "cargo login", "ngrok "],
    String.raw`(?<![\w-])(?:vault\s{1,4}login(?:\s{1,4}-[\w=-]{1,40}){0,4}|cargo\s{1,4}login|ngrok\s{1,4}(?:config\s{1,4}add-)?authtoken|mc\s{1,4}(?:alias\s{1,4}set|config\s{1,4}host\s{1,4}add)(?:\s{1,4}[^\s;&|-][^\s;&|]{0,200}){3})\s{1,4}(?!-)(?!\w{1,20}=)`,
    ["vault login abcdef123456", "mc alias set minio http://h:9000 ada hunter2"],
    ["vault login -method=oidc", "vault login -method=userpass username=ada", "mc alias ls"],
  ),
];
