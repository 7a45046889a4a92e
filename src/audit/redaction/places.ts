/** Secrets that are recognised by the words before them, in a command or another text. */
import { LOOSE_VALUE, type RedactionRule, sample as x, VALUE, valueAt } from "./shapes.ts";
import { isSecretValue } from "./values.ts";

/** A word that is not an option, and a share or an address. */
const WORD = String.raw`\s{1,4}(?:"[^"\n]{1,80}"|'[^'\n]{1,80}'|[^\s;&|"'-][^\s;&|"']{0,80})`;
const FLAGS = String.raw`(?:\s{1,4}-[\w-]{1,20})`;
const NAME = String.raw`[\w.-]{0,60}(?:key|token|secret|password|passwd|pwd|credentials?)\b`;
/** Commands that set the variable after them. */
export const SETS = String.raw`(?<![\w-])(?:setx|setenv|set-environment|set\s{1,4}-{1,2}\w{0,10}x\w{0,10}|env)`;
/** A PIN of a card or a phone. The pins of a board have smaller numbers. */
const PIN = /^\d{4,6}$/;
/** A user and a password, the end of base64, or letters between digits: names have digits at one place. */
const CREDENTIAL =
  /^(?:[\w.@-]{1,80}:(?!v?\d)(?=[^\d/]*\d)(?=[^A-Za-z]*[A-Za-z])[^\s/]{6,}|[A-Za-z\d+/]{10,}={1,2}|(?=[\w+/-]*?\d[A-Za-z]{1,12}\d)[\w+/-]{16,}={0,2})$/;

export const PLACE_RULES: readonly RedactionRule[] = [
  valueAt(
    "set-variable",
    ["setx ", "setenv ", "set-environment ", "set -", "env "],
    String.raw`${SETS}\s{1,4}${NAME}\s{1,4}`,
    ["setx API_TOKEN abc", "set -gx GITHUB_TOKEN abc", "ENV DB_PASSWORD hunter2"],
    ["set -x", "setx PATH abc", "env API_KEY=$X make"],
  ),
  valueAt(
    "saved-value",
    ["configure ", "config "],
    String.raw`config(?:ure)?\s{1,4}(?<=\b(?:aws|p?npm|yarn|pip3?|git)\s{1,4}config(?:ure)?\s{1,4})(?:set\s{1,4})?${FLAGS}{0,4}\s{0,4}(?!\S{0,60}(?:key_id|helper|signingkey)\b)\S{0,200}(?:key|token|secret|password|_auth)["']?(?:\s{1,4}|=)`,
    [
      "aws configure set aws_secret_access_key abc/def",
      "npm config set //registry.npmjs.org/:_authToken abc",
      "npm config set '//example.com/:_auth' abc",
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
  {
    // A name in capitals, or the last part of a path, before its value.
    id: "named-argument-value",
    keywords: ["set ", "set-env ", "kv put ", "credstash put ", "etcdctl put "],
    pattern: new RegExp(
      String.raw`(?<![\w-])(?:set(?:-env)?\s{1,4}(?:[^\s;|&"'-][^\s;|&"']{0,60}\s{1,4})?(?:[A-Z][A-Z0-9]{0,30}_){1,6}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD)|(?:kv|credstash|etcdctl)\s{1,4}put(?:\s{1,4}-\S{1,60}){0,4}\s{1,4}[\w./-]{0,120}(?:key|token|secret|password|passwd|pwd))\s{1,4}${LOOSE_VALUE}`,
      "y",
    ),
    accepts: isSecretValue,
    matches: [
      "cf set-env app API_KEY abc123",
      "glab variable set MY_TOKEN abc123",
      "consul kv put app/password hunter2",
    ],
    ignores: [
      "set API_KEY before you start",
      "cf set-env app CACHE_DIR abc123",
      "consul kv put app/stage prod1",
    ],
  },
  {
    // `user:password@host` without a scheme.
    id: "server-login",
    keywords: ["mysqlsh ", "impacket-", "secretsdump", "exec.py ", "dsn", "open("],
    pattern:
      /(?:mysqlsh|impacket-\w{1,30}|secretsdump(?:\.py)?|exec\.py)\s[^\n;|&]{0,120}?(?<=[\s"'/])[\w.-]{1,60}:(?<secret>[^\s"'@/]{1,200})(?=@)|(?:dsn\\?["']?[\s=:]{1,4}\\?["']?|open\(\s{0,4}(?:\\?["'][\w.-]{1,40}\\?["'],\s{0,4})?\\?["'])[\w.-]{1,60}:(?<bare>[^\s"'@]{1,200})(?=@\w{2,8}\()/iy,
    accepts: isSecretValue,
    matches: [
      "mysqlsh --uri ada:hunter2@h",
      "secretsdump.py 'corp/ada:hunter2@h'",
      'app -dsn "ada:hunter2@tcp(h:3306)/db"',
      `sql.Open("mysql", "ada:hunter2@tcp(h:3306)/db")`,
      `gorm.Open(mysql.Open("ada:hunter2@unix(/run/m.sock)/db"))`,
    ],
    ignores: ["mysqlsh ada@h:3306", 'app -dsn "ada:$PW@tcp(h:3306)/db"', `open("a:b", "r")`],
  },
  valueAt(
    "host-credentials",
    ["bundle config "],
    String.raw`bundle\s{1,4}config(?:\s{1,4}set)?${FLAGS}{0,2}\s{1,4}(?!mirror|build)[\w:/-]{1,60}\.[\w./:-]{1,100}\s{1,4}(?!-)`,
    ["bundle config set --global gems.example.com ada:hunter2"],
    ["bundle config set path vendor/bundle", "bundle config mirror.https://a.b https://c.d"],
  ),
  {
    ...valueAt(
      "netrc-password",
      ["login "],
      String.raw`login\s{1,4}[^\s"',;]{1,200}\s{1,4}password\s{1,4}`,
      ["machine example.com login ada password hunter2"],
      ["login failed, password wrong"],
    ),
    reach: "next",
  },
  valueAt(
    "short-name",
    [
      "pw=",
      "$pw ",
      "pat=",
      "key_base=",
      "_auth=",
      "secret_id=",
      "bw_session=",
      "&p=",
      ",p=",
      "sonar.login=",
    ],
    String.raw`(?:\$pw\s{1,4}=\s{1,4}(?=["'])|(?:(?<=[\s,?&]u=[^\s,=&]{1,60})[,&]p|bw_session|sonar\.login(?==[0-9a-f]{40}(?!\w))|(?<![A-Za-z0-9])pw|(?<=_)pat|key_base|(?<=(?<![A-Za-z0-9])(?:redis|rediscli|valkey|api|http|basic|proxy|npm|docker|registry|neo4j)?)_auth|secret_id)=)`,
    [
      "PW=hunter2 x",
      `$pw = "hunter2"; Connect-It`,
      "GH_PAT=abc x",
      "REDISCLI_AUTH=abc redis-cli",
      "API_AUTH=abc x",
      "npm _auth=abc",
      "pt-table-checksum h=db,u=ada,p=hunter2",
      `mvn -Dsonar.login=${x(40, "0a1b2c")}`,
    ],
    ["USE_AUTH=true x", "REDIS_AUTH=$A x", "path=/a", "x a=b,p=5", "x -Dsonar.login=ada", "$pw = Read-Host", `if ($pw == "x")`, `$pwm = "fast"`], // oxfmt-ignore
  ),
  {
    // Variables of these names also hold kinds, hosts and the numbers of a board's pins, so the form of the value decides.
    id: "credential-variable",
    keywords: ["auth=", "bearer=", "cookie=", "pin="],
    pattern: new RegExp(
      String.raw`(?<![A-Za-z\d.-])(?:AUTH|BEARER|COOKIE|(?<pin>PIN))=${VALUE}`,
      "y",
    ),
    accepts: (secret, groups) =>
      (groups["pin"] ? PIN : CREDENTIAL).test(secret) && isSecretValue(secret, groups),
    matches: [
      "AUTH=ada:hunter2 x",
      "AUTH=YWRhOmh1bnRlcjI= x",
      `export BEARER='${x(20)}'`,
      `SESSION_COOKIE=${x(32)} x`,
      "CARD_PIN=1234 x",
    ],
    ignores: [
      "AUTH=basic x",
      "AUTH=OAuth2PasswordBearer x",
      "AUTH=scram-sha-256-plus x",
      "AUTH=localhost:8080 x",
      "PROXY_IMAGE_AUTH=auth:v1.2.3 x",
      "SESSION_COOKIE=connect.sid x",
      `BEARER=$${x(20)} x`,
      "PIN=13 make flash",
    ],
  },
  valueAt(
    "secret-argument",
    ["encrypt_string ", "--from-literal", "http-basic.", "pypi-token."],
    String.raw`(?:encrypt_string\s{1,4}(?!-)|--from-literal(?<=\bsecret\b[^\n;|&]{0,300})(?:=|\s{1,4})["']?[\w.-]{1,100}=|http-basic\.\S{1,100}\s{1,4}[^\s-]\S{0,100}\s{1,4}|pypi-token\.[\w.-]{1,100}[ \t]{1,4}(?!-))`,
    [
      "ansible-vault encrypt_string 'hunter2' --name x",
      "kubectl create secret generic x --from-literal=a=hunter2",
      "composer config http-basic.example.com ada hunter2",
      "poetry config pypi-token.pypi abc",
    ],
    [
      "kubectl create configmap x --from-literal=a=b",
      "poetry config pypi-token.pypi --unset",
      "poetry config --unset pypi-token.pypi\nls",
    ],
  ),
  valueAt(
    "word-before",
    ["nmcli ", "rclone config ", "redis-cli ", "valkey-cli ", "setuser ", "psk"],
    String.raw`(?:(?:nmcli\s[^\n;|&]{1,200}?\spassword|rclone\s{1,4}config\s[^\n;|&]{1,200}?\s(?:pass|\w{0,40}(?:key|secret|token|password))|(?:redis|valkey)-cli\s[^\n;|&]{0,120}?(?<=\s)auth(?:\s{1,4}[\w.-]{1,60}(?=\s{1,4}[^\s;|&]))?)[ \t]{1,4}(?!-)|(?<![A-Za-z0-9])psk(?:\\?["']?\s{0,4}[=:]\s{0,4}|\s{1,4}(?=["'\w]))|setuser\s[^\n;|]{1,80}?["']>)`,
    [
      "nmcli d wifi connect net password hunter2",
      "rclone config create r s3 secret_access_key abc",
      "redis-cli -h r AUTH hunter2",
      "redis-cli AUTH ada hunter2",
      "redis-cli ACL SETUSER ada on '>hunter2' +@all",
      "nmcli con modify x wifi-sec.psk hunter22",
      `wpa_cli set_network 0 psk '"hunter22"'`,
    ],
    ["nmcli d wifi", "rclone config show", "redis-cli get author x", "redis-cli AUTH $P"],
  ),
  valueAt(
    "share-password",
    ["net use ", "smbclient "],
    // The password follows the share or the user.
    String.raw`(?<![\w-])(?:net\s{1,4}use\s(?:[^\n;|&]{0,300}?\/u(?:ser)?:[^\s;|&]{1,100}|(?:\s{0,4}[^\s\\/"';|&]{1,60}\s)?\s{0,4}["']?\\[^\s;|&]{1,200})|smbclient\s{1,4}["']?(?:\/\/|\\\\)[^\s;|&]{1,200})[ \t]{1,4}(?!["']?[/*-])`,
    [
      String.raw`net use \\s\share /user:corp\ada hunter2`,
      String.raw`net use Z: \\s\share hunter2 /user:ada`,
      String.raw`net use Z: \\s\share "hunter 2"`,
      "smbclient //s/share hunter2 -U ada",
    ],
    [
      "smbclient //s/share -U ada",
      String.raw`net use Z: \\s\share /user:ada`,
      String.raw`net use Z: \\s\share * /user:ada /persistent:no`,
      "net use Z: /delete",
      "net use is a command",
    ],
  ),
  valueAt(
    "key-password",
    ["pass:"],
    String.raw`(?<![\w-])pass:`,
    ["openssl rsa -passin pass:hunter2 -in k", "openssl rsa -passin 'pass:a b;c' -in k"],
    ["openssl rsa -passin env:P", "bypass:x"],
    String.raw`(?:(?<=-pass(?:in|out)?\s{1,4}["']pass:)(?<whole>[^\s"'\x60$(][^"'\x60$(]{0,512})|${VALUE})`,
  ),
  {
    ...valueAt(
      "sql-password",
      ["identified ", "password '", 'password "', "set password"],
      String.raw`(?:(?:identified\s{1,4}(?:with\s{1,4}\S{1,60}\s{1,4})?(?:by|as)\s{1,4}(?:password\s{1,4})?|(?<=\b(?:with|encrypted|user|role)\b[^;]{0,100})password\s{1,4}|set\s{1,4}password\s{1,4}(?:for\s{1,4}\S{1,100}\s{0,4})?=\s{0,4})(?:password\()?(?=\\?["'])|(?<=\b(?:user|role)\s[^;"']{1,80}\s)identified\s{1,4}by\s{1,4}(?=[A-Za-z_$#]{0,40}\d)(?=[\w$#]{6,60}\s{0,4}(?:[;"']|$)))`,
      [
        "echo 'alter user ada identified by hunter22;' | sqlplus / as sysdba",
        `mysql -e "CREATE USER a IDENTIFIED BY 'hunter2'"`,
        `psql -c "ALTER ROLE a WITH PASSWORD 'hunter2'"`,
      ],
      ["identified by the operator", "password 'x' is too short"],
    ),
    reach: "next",
  },
  {
    id: "seed-phrase",
    keywords: ["mnemonic", "seed_phrase", "seedphrase"],
    pattern:
      /(?:mnemonic|seed_?phrase)\\?["']?\s?[=:]\s?\\?["'](?<secret>(?:[a-z]{3,8}\s){11,23}[a-z]{3,8})(?=\\?["'])/iy,
    matches: [`MNEMONIC="${"able ".repeat(11)}zoo" npx hardhat run x`],
    ignores: ['MNEMONIC="$M" x', 'mnemonic: "a way to remember"'],
  },
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
    ["htpasswd ", "mosquitto_passwd "],
    String.raw`passwd(?=(?:\s{1,4}-\w{1,8}|\s{1,4}\d{1,2}){0,4}\s{1,4}-\w{0,8}b)(?:\s{1,4}-\w{1,8}|\s{1,4}\d{1,2}){1,4}(?:(?<=\s-\w{0,8}n\w{0,8}(?:\s[^;|&\n]{0,40})?)|${WORD})${WORD}\s{1,4}`.replace(
      /^passwd/,
      "(?:htpasswd|mosquitto_passwd)",
    ),
    [
      "htpasswd -bc users ada hunter2",
      "htpasswd -nbB ada hunter2",
      "htpasswd -b -c users ada 'a b'",
      "mosquitto_passwd -b f ada hunter2",
    ],
    ["htpasswd users ada", "htpasswd -c users ada"],
  ),
  valueAt(
    "oracle-password",
    ["sqlplus ", "expdp ", "impdp ", "rman ", "sqlldr ", "exp ", "imp "],
    String.raw`(?:sqlplus|expdp|impdp|rman|sqlldr|(?<![\w-])(?:exp|imp)(?=\s{1,4}\w{1,60}\/[^\s@/]{1,128}@))${FLAGS}{0,3}\s{1,4}(?:target\s{1,4}|userid=)?["']?[A-Za-z]\w{0,60}\/`,
    ["sqlplus scott/tiger@orcl", "exp scott/tiger@orcl file=x.dmp"],
    ["sqlplus /nolog", "sqlplus scott/$PW@orcl"],
    String.raw`(?<secret>[^\s@"'/;&|<>()]{1,128})`,
  ),
  valueAt(
    "login-argument",
    ["vault login", "conda token set", "mc alias set", "mc config host", "cargo login", "ngrok "],
    String.raw`(?<![\w-])(?:vault\s{1,4}login(?:\s{1,4}-[\w=-]{1,40}){0,4}|conda\s{1,4}token\s{1,4}set|cargo\s{1,4}login|ngrok\s{1,4}(?:config\s{1,4}add-)?authtoken|mc\s{1,4}(?:alias\s{1,4}set|config\s{1,4}host\s{1,4}add)(?:\s{1,4}[^\s;&|-][^\s;&|]{0,200}){3})\s{1,4}(?!-)(?!\w{1,20}=)`,
    ["vault login abcdef123456", "mc alias set minio http://h:9000 ada hunter2"],
    ["vault login -method=oidc", "vault login -method=userpass username=ada", "mc alias ls"],
  ),
];
