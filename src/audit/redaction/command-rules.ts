/** Commands that take a secret at a fixed place, and options that mean a password in general. */
import type { ProgramRule } from "./programs.ts";
import { type RedactionRule, VALUE, valueAt } from "./shapes.ts";
import { isSecretValue } from "./values.ts";

/** Programs whose `-p` and `-P` mean something else beside a user. */
const NOT_PASSWORDS =
  "(?<!\\baz )mysql\\w*|mariadb[\\w-]*|journalctl|systemctl|cp|mv|rsync|scp|tar|diff|patch|install|sort|ps|top|htop|pgrep|pkill|lsof|strace|perf|renice|netstat|ss|git|mkdir|mount|pytest|php|nmap|fetchmail";
const USER = String.raw`(?:-[uUl]|--?user(?:name)?)`;
/** A port, the id of a process, a priority, or one of the other harmless values. */
const HARMLESS =
  /^(?:\d{1,7}(?::\d{1,5}){0,2}(?:\/\w{3})?|emerg|alert|crit|err|error|warning|notice|info|debug)$/;

/** Rules for commands of any program. */
export const COMMAND_RULES: readonly RedactionRule[] = [
  {
    // `-u ada -p hunter2`, in this or the other order.
    id: "user-option",
    keywords: [" -p"],
    pattern: new RegExp(
      String.raw`\s-p(?=[\s=])(?:(?<=\s${USER}(?:\s{1,4}|=)["']?[^\s;|&-][^\s;|&]{0,100} -p)(?:\s{1,4}|=)|\s{1,4}(?=["']?[^\s;|&-][^\s;|&]{0,100}\s{1,4}${USER}[\s=]))(?!-)(?<!(?<![\w-])(?:${NOT_PASSWORDS})\s[^\n;|&"']{0,200})(?<!(?<![\w-])(?:sudo|doas)\s{1,4}(?:-\S{1,40}\s{1,4}(?:[^\s-]\S{0,60}\s{1,4})?){0,4})${VALUE}`,
      "iy",
    ),
    accepts: (secret, groups) => isSecretValue(secret, groups) && !HARMLESS.test(secret),
    matches: [
      "mosquitto_pub -h h -u ada -P hunter2 -t x",
      "cypher-shell -u neo4j -p hunter2 'match (n)'",
      "nxc smb h -p hunter2 -u ada",
      "jboss-cli.sh -u=ada -p=hunter2 -c",
    ],
    ignores: [
      "sudo -u ada -p prompt ls",
      "journalctl -u nginx -p warning",
      "psql -U ada -p 5433 app",
      "fetchmail -p POP3 -u ada h",
      "app -u ada -p 8080:80",
      "app -u ada -p",
    ],
  },
  {
    id: "auth-option",
    keywords: ["auth", "cred", "userpwd"],
    pattern: new RegExp(
      String.raw`(?:auth|creds?|credentials?|userpwd)(?<=(?<![\w-])(?:--?[\w-]{0,40}|CURLOPT_USERPWD))(?:\s{1,4}|=|["']?\s?,\s?)["']?[\w.@+\\-]{1,80}:(?!["']?[\s/:;|&])${VALUE}`,
      "iy",
    ),
    accepts: isSecretValue,
    matches: [
      "jenkins-cli -auth ada:hunter2 x",
      "chrome --proxy-auth=ada:hunter2",
      "sqlmap --auth-cred 'ada:hunter2'",
      "x --auth ada:'hunter 2'",
      'x --auth=ada:"hunter2"',
    ],
    ignores: ["x --auth basic", "x --auth http://h:80/", "x --auth ada:$PW", "x --auth op://v/x"],
  },
  valueAt(
    "slash-option",
    ["pass", "pwd", "secret", "token", "pw:"],
    String.raw`(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token)(?<=(?<!\S)["']?(?:\/|--?)[\w-]{0,40}):(?!(?:env|file)\s)`,
    [
      "wmic /user:ada /password:hunter2 os",
      "winrm -username:ada -password:hunter2",
      "x '/secret:hunter 2'",
    ],
    ["wmic /password:%PW% os", "keytool -list -storepass:env KS", "docker pull h/my-token:v1"],
  ),
  valueAt(
    "account-password",
    ["net user ", "net1 user "],
    String.raw`(?<![\w-])net1?\s{1,4}user\s{1,4}(?:\/\w{1,20}\s{1,4}){0,3}(?!["']?\/)[^\s;|&]{1,80}\s{1,4}(?:\/\w{1,20}\s{1,4}){0,3}(?!["']?[/*])`,
    ["net user ada hunter2 /add", 'net user ada "hunter 2"', "net user /add ada hunter2"],
    ["net user ada", "net user ada /delete", "net user ada * /add"],
  ),
  valueAt(
    "word-argument",
    ["requirepass", "masterauth", "input_pw ", "owner_pw ", "user_pw ", "netsh ", "sc config ", "sc create ", "pragma ", "openssl passwd ", "upwd ", "open -u ", "isql ", "jdbc:oracle:", "db2 connect ", "password password ", "password_again password ", "wpa_passphrase ", "env set ", "env:set "], // oxfmt-ignore
    String.raw`(?:(?:requirepass|masterauth)\s{1,4}(?!["']?(?:is|was|in|of|and|or|to)\b)|(?:input|owner|user)_pw\s{1,4}|netsh\s[^\n;|&]{1,200}?\s(?:key|keymaterial)=|sc\s{1,4}(?:config|create)\s[^\n;|&]{1,200}?\spassword=\s{0,4}|pragma\s{1,4}(?:re)?key\s{0,4}=\s{0,4}(?=["'])|openssl\s{1,4}passwd(?:\s{1,4}-salt\s{1,4}\S{1,40}|\s{1,4}-\w{1,10}){0,4}\s{1,4}(?!-)|upwd\s{1,4}[^\s-]\S{0,80}\s{1,4}|open\s{1,4}-u\s{1,4}[\w.@-]{1,60},|(?<![\w-])isql(?:\s{1,4}-\w{1,4}){0,4}\s{1,4}[^\s-]\S{0,60}\s{1,4}[^\s-]\S{0,60}\s{1,4}(?!-)|jdbc:oracle:\w{1,10}:\w{1,60}\/|db2\s{1,4}connect\s[^\n;|&]{1,200}?\susing\s{1,4}|password(?:_again)?\s{1,4}password\s{1,4}|wpa_passphrase\s{1,4}(?:"[^"\n]{1,80}"|'[^'\n]{1,80}'|[^\s"';|&-]\S{0,80})\s{1,4}|env[\s:]set\s{1,4}(?!-)[^\s;|&=]{1,80}\s{1,4}(?!-))`,
    [
      "redis-cli CONFIG SET requirepass hunter2",
      "pdftk a.pdf input_pw hunter2 output b.pdf",
      "netsh wlan set hostednetwork ssid=x key=hunter22",
      "openssl passwd -6 hunter2",
      "jdbc:oracle:thin:ada/hunter2@h:1521/x",
      "wpa_passphrase 'my net' 'hunter 22' > x.conf",
      "netlify env:set KEY hunter2",
      "lftp -e 'open -u ada,hunter2 h'",
      "isql -v dsn ada hunter2",
    ],
    [
      "open -u https://h",
      "isql -v dsn",
      "redis-cli config get requirepass",
      "openssl passwd -6",
      "netsh wlan show profiles",
    ],
  ),
  valueAt(
    "expected-answer",
    ["send "],
    String.raw`(?<=(?:password|passphrase|assword:?)\b[^\n]{0,60})send(?:\s--)?\s{1,4}`,
    [String.raw`expect "password:"; send "hunter2\r"`],
    ["password: send $p", "a password; resend it"],
    String.raw`(?:"(?<double>[^"\\\n]{1,512})|(?<bare>[^\s"'\\;|&$]{1,512}(?=\\[rn])))`,
  ),
  valueAt(
    "protocol-password",
    ["pass ", "auth plain ", ":5432:"],
    String.raw`(?:(?<=\buser\s[^\n;|&]{1,80}(?:\\n|\n)(?:quote\s)?)pass\s|auth\splain\s(?=[\w+/]{12})|(?<=[\w.*-]):5432:[^:\s"']{1,60}:[^:\s"']{1,60}:)`,
    [
      String.raw`printf 'USER ada\r\nPASS hunter2\r\n' | nc h 21`,
      "echo 'AUTH PLAIN AGFkYQBodW50ZXIy' | nc h 25",
      "echo 'h:5432:db:ada:hunter2' > ~/.pgpass",
    ],
    ["the tests pass all", "gh auth plain text", "psql -h h:5432:x"],
    String.raw`(?<secret>[^\s"'\\;|&$]{1,512})`,
  ),
  valueAt(
    "secret-data",
    ["stringdata"],
    String.raw`stringdata\\?["']?\s?:\s?\{\s?\\?["'][^"'\n]{1,100}["']\s?:\s?`,
    [`kubectl patch secret x -p '{"stringData":{"k":"hunter2"}}'`],
    [`{"stringData":{}}`, '{"stringData":{"k":"$V"}}'],
  ),
];

/** Rules for programs, by the words of their commands. */
export const COMMAND_PROGRAMS: readonly ProgramRule[] = [
  {
    // The word of many programs for their store: `gh secret set`, `fly secrets set`, `eas secret:create`.
    id: "stored-secret",
    programs: ["secret", "secrets", "user-secrets", "secret:create", "secret:push"],
    after: "set|put|add|write|patch|create|update|import|push|--.*",
    options: { set: "named", put: "named", write: "named", "--value": "word", "--body": "word", "--text": "word", "--data": "word" }, // oxfmt-ignore
    hasAssignments: true,
    matches: [
      "doppler secrets set K hunter2",
      "dotnet user-secrets set 'Db:Conn' hunter2",
      "eas secret:create --name X --value hunter2",
      "infisical secrets set PLAN=hunter2",
    ],
    ignores: [
      "gh secret set NAME < key",
      "docker secret create db ./pw.txt",
      "kubectl get secret db -o yaml",
      "the secret set by ada is old",
      "vault secrets enable kv",
    ],
  },
  {
    id: "place-argument",
    programs: ["chamber", "keyctl", "virsh", "b2", "dscl", "networksetup", "rclone", "nuget", "grafana-cli", "neo4j-admin", "drush"], // oxfmt-ignore
    options: { write: "third", add: "third", "set-user-password": "third", "authorize-account": "second", "-passwd": "second", "-setairportnetwork": "third", obscure: "word", setapikey: "word", "reset-admin-password": "word", "set-initial-password": "word", "user:password": "second" }, // oxfmt-ignore
    matches: [
      "chamber write svc key hunter2",
      "rclone obscure hunter2",
      "keyctl add user k hunter2 @u",
      "neo4j-admin dbms set-initial-password hunter2",
    ],
    ignores: ["chamber exec svc -- ./run", "dscl . -list /Users"],
  },
  {
    id: "unseal-key",
    programs: ["bao", "vault"],
    options: { unseal: "word" },
    matches: ["vault operator unseal hunter2"],
    ignores: ["vault operator unseal", "vault write a/b c=$D role_id=e"],
  },
  {
    id: "password-option",
    programs: ["schtasks", "certutil", "influx", "beeline", "trojan", "signtool"],
    options: { "/rp": "next", "/p": "next", "-p": "next" },
    matches: ["schtasks /create /ru ada /rp hunter2", "signtool sign /f x.pfx /p hunter2 x.exe"],
    ignores: ["schtasks /query", "influx -precision rfc3339"],
  },
  {
    id: "mail-password",
    programs: ["swaks", "sendemail"],
    options: { "-ap": "next", "-xp": "next" },
    matches: ["swaks -au ada -ap hunter2"],
    ignores: ["swaks -p 587 -t ada@example.com"],
  },
  {
    id: "proxy-password",
    programs: ["ss-local", "ss-server", "caddy"],
    options: { "-k": "word", "--plaintext": "word" },
    matches: ["ss-local -s h -p 8388 -k hunter2", "caddy hash-password --plaintext hunter2"],
    ignores: ["ss-local -s h -p 8388", "caddy run"],
  },
  {
    id: "pdf-password",
    programs: ["qpdf", "pdftotext", "pdftoppm", "pdfinfo", "pdfimages", "pdftocairo", "pdfseparate"], // oxfmt-ignore
    options: { "--encrypt": "word", "-upw": "next", "-opw": "next" },
    matches: ["qpdf --encrypt hunter2 x 256 -- a.pdf b.pdf", "pdftotext -upw hunter2 a.pdf"],
    ignores: ["qpdf --decrypt a.pdf b.pdf", "pdfinfo a.pdf"],
  },
  {
    id: "pdf-owner-password",
    programs: ["qpdf"],
    options: { "--encrypt": "second" },
    matches: ["qpdf --encrypt x hunter2 256 -- a.pdf b.pdf"],
    ignores: ["qpdf a.pdf b.pdf"],
  },
  {
    id: "directory-password",
    programs: ["ldappasswd"],
    options: { "-s": "word", "-a": "word" },
    matches: ["ldappasswd -s hunter2 -D cn=admin uid=ada"],
    ignores: ["ldappasswd -S -D cn=admin uid=ada"],
  },
  {
    id: "mac-key",
    programs: ["openssl"],
    options: { "-hmac": "next", "-psk": "next" },
    matches: ["openssl dgst -hmac hunter2 x"],
    ignores: ["openssl dgst -sha256 x"],
  },
  {
    id: "login-secret",
    programs: ["snyk"],
    options: { auth: "word", api: "word" },
    matches: ["snyk auth hunter2-abcd", "snyk config set api=hunter2"],
    ignores: ["snyk auth", "snyk test", "snyk config set org=acme"],
  },
  {
    id: "service-token",
    programs: ["cloudflared"],
    after: "service",
    options: { install: "word" },
    matches: ["cloudflared service install hunter2"],
    ignores: ["cloudflared tunnel list", "cloudflared service install"],
  },
  {
    id: "project-password",
    programs: ["supabase"],
    options: { "-p": "next" },
    matches: ["supabase db push -p hunter2"],
    ignores: ["supabase link --project-ref abc"],
  },
  {
    id: "keystore-password",
    programs: ["keytool"],
    options: { "-new": "next" },
    matches: ["keytool -storepasswd -keystore k -new hunter2"],
    ignores: ["keytool -list -keystore k"],
  },
  {
    id: "card-pin",
    programs: ["pkcs11-tool", "yubico-piv-tool", "pkcs15-tool"],
    options: { "--pin": "word", "--so-pin": "word", "--new-pin": "word" },
    matches: ["pkcs11-tool --login --pin 123456 -O"],
    ignores: ["pkcs11-tool --login -O"],
  },
  {
    id: "remote-login",
    programs: ["conan"],
    after: "login|user",
    options: { "-p": "next" },
    matches: ["conan remote login acme ada -p hunter2", "conan user -p hunter2 -r acme ada"],
    ignores: ["conan install -pr release ."],
  },
  {
    id: "account-login",
    programs: ["cf"],
    options: { auth: "second" },
    matches: ["cf auth ada hunter2"],
    ignores: ["cf auth", "cf apps"],
  },
  {
    id: "keychain-password",
    programs: ["security"],
    after:
      "(?:add-(?:generic|internet)|set-keychain)-password|unlock-keychain|create-keychain|import",
    options: { "-w": "word", "-p": "word", "-P": "word" },
    matches: [
      "security add-generic-password -a ada -s x -w hunter2",
      "security unlock-keychain -p hunter2 k",
    ],
    ignores: [
      "security find-generic-password -s svc -w",
      "security unlock-keychain login.keychain",
    ],
  },
  {
    id: "partition-password",
    programs: ["security"],
    after: "set-key-partition-list",
    options: { "-k": "word" },
    matches: ["security set-key-partition-list -S apple-tool: -s -k hunter2 b"],
    ignores: ["security set-key-partition-list -S apple-tool: -s b"],
  },
];
