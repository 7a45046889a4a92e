/* oxlint-disable no-template-curly-in-string -- expansions of the shell */
/**
 * The forms of secrets, as data. A rule is tried only where the text has one of its keywords, and its pattern reads a
 * bounded length from there, so redaction takes linear time. No rule guesses by entropy.
 */
import { CALL_RULES } from "./calls.ts";
import { COMMAND_RULES } from "./command-rules.ts";
import { DOCUMENT_RULES } from "./documents.ts";
import { INPUT_RULES } from "./input.ts";
import { PLACE_RULES } from "./places.ts";
import { LOOSE_VALUE, type RedactionRule, sample as x, VALUE, valueAt } from "./shapes.ts";
import { TOKEN_RULES } from "./tokens.ts";
import { URL_RULES } from "./url-rules.ts";
import { isSecretName, isSecretOption, isSecretValue } from "./values.ts";

const SECRET_WORDS = ["key", "token", "secret", "pass", "pwd", "credential", "creds", "otp"];
const SECRET_WORD = "(?:key|token|secret|pass(?:word|wd|phrase)?|pwd|credentials?|creds|otp)";
/** Programs whose `--secret` is the name of a stored secret. */
const NAMES_SECRET = String.raw`(?<!\b(?:docker|podman|nerdctl|buildah|pulumi|gcloud)\b[^\n;|&]{0,200}\s--secret)`;
const SUFFIX =
  "(?:[0-9]{1,2}|_(?:[0-9]{1,3}|v[0-9]|base64|b64|prod|production|staging|dev|test|old|new|primary|secondary)|(?<=secret_key)_base|(?<=client-key)-data)?";
/** A name that ends in a secret word; the group `name` is the whole name. */
const SECRET_NAME = String.raw`${SECRET_WORD}(?<=(?<name>[\w.-]{1,80}))${SUFFIX}(?![\w-])`;
/** The end of a quoted or indexed name. */
export const CLOSED = String.raw`\\?["']?\]?`;
const GAP = String.raw`(?:\s|\\\n){1,8}`;
/** Between an option and its value, in a command or in a list. */
export const OPTION_GAP = String.raw`(?:${GAP}(?!-)|\\?["']\s?,\s?(?=\\?["'](?!-)))`;
/** Between a name and its value in a document. */
export const LABELS = String.raw`${CLOSED}(?:\s{1,4}=\s{1,4}|\s{0,4}=>\s{0,4}(?=["'])|\s?:\s{0,4}(?=\\?["'])|\s?:\s{1,4})`;
/** The value of an assignment that is one word in quotes. */
export const WHOLE = String.raw`[^\s"'\x60$(][^"'\x60$(]{0,4096}`;
/** The value that stands for a variable without one. */
export const DEFAULT = String.raw`[^\s"'\x60$(){}]{1,4096}`;
/** Commands and options before an assignment that is one word. */
export const ASSIGNS = String.raw`(?:(?<![\w-])(?:env|export|declare|typeset|readonly|local)(?:\s{1,4}-\w{1,10}){0,3}|\b(?:docker|podman|nerdctl|kubectl|oc)\b[^\n;|&]{0,200}\s-e|--(?:env|build-arg|set|set-string|from-literal)|\s-var)`;
/** The text behind the parenthesis of a call; a password such as `abc(9d` has other text there. */
const CALLED = String.raw`(?:\)(?!\w)|\\?["'][\w./:%{$-]|[A-Za-z_][\w.]{0,60}(?:[()=[]|,\s|,\w{1,60}[,)]|\x20(?:if|for|or|and|[-+*/%?]|==)\s)|\d{1,9}[),])`;
/** A call in code, as in `token=next(tokens)`. Behind a bare word of a command, a parenthesis is an error. */
const CALL = String.raw`[A-Za-z_]{1,40}(?:\.[A-Za-z_]{1,40}){0,4}\(${CALLED}`;
const SCHEMES =
  "bearer|basic|token|digest(?!\\s{1,4}\\w{1,20}=)|apikey|api-key|negotiate|ntlm|bot|splunk|oauth|dpop|genie-?key|snowflake|key|sso-key|ssws";

/** The rules, in the order in which they are tried at one position. */
export const REDACTION_RULES: readonly RedactionRule[] = [
  ...DOCUMENT_RULES,
  ...URL_RULES,
  {
    id: "authorization-header",
    keywords: ["authorization"],
    pattern: new RegExp(
      String.raw`authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:(?:${SCHEMES})(?:\s{1,4}|\\?["']\s?,\s?\\?["'])(?!\\?["'])(?<secret>[^\s"'\x60\\;]{3,8192})|(?!AWS4-)(?<bare>(?=[^\s"'\\,;0-9]{0,256}[0-9])[^\s"'\\,;]{6,8192}|[^\s"'\\,;]{20,8192})|(?<=(?:-[A-Za-z]{0,8}H|--header)(?:\s{1,4}|=)?["']authorization:\s{0,4})(?!(?:${SCHEMES})["'])(?<loose>[^\s"'\\,;$]{3,8192})(?=["']))`,
      "iy",
    ),
    accepts: isSecretValue,
    matches: [
      "curl -H 'Authorization: Bearer abc.def'",
      "curl -H 'Authorization: hunter' x",
      'curl -H "authorization: Basic dTpw"',
      String.raw`{\"Authorization\": \"Bearer abc.def\"}`,
      "http x Authorization:abc123def",
    ],
    ignores: [
      'curl -H "Authorization: Bearer $TOKEN"',
      'curl -H "Authorization: $TOKEN"',
      "curl -H 'Authorization: Bearer' x",
      "authorization failed",
      "authorization: denied by the policy",
    ],
  },
  {
    id: "signed-header",
    keywords: ["response=", "signature="],
    // The header is looked for before the value is read: looking for it behind each end of a value took milliseconds.
    pattern:
      /(?<=authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:digest|aws4-hmac-sha256)\s(?:[^\n]{0,500}[\s,])?)(?:response|signature)=\\?["']?(?<secret>[^\s"'\\,;&|]{3,1024})/iy,
    accepts: isSecretValue,
    matches: [
      "curl -H 'Authorization: Digest username=ada, realm=r, response=0a1b2c3d' x",
      'curl -H "Authorization: AWS4-HMAC-SHA256 Credential=x/y, SignedHeaders=host, Signature=0a1b2c3d" x',
    ],
    ignores: [
      'curl -H "Authorization: Digest username=ada, response=$R" x',
      "curl --digest -u ada https://x/?response=abc",
    ],
  },
  {
    id: "bearer-token",
    keywords: ["bearer"],
    // Outside a header, a word that ends in a number is more likely a name than a token.
    pattern:
      /bearer(?:(?<=[:=]\s{0,4}\\?["']?bearer)|(?!\s{1,4}[A-Za-z]{1,30}\d{1,2}(?![\w~+/=-]|\.\w)))\s{1,4}(?<secret>(?=[A-Za-z._~+/=-]{0,256}\d)[A-Za-z0-9._~+/=-]{8,8192})/iy,
    accepts: isSecretValue,
    matches: [`curl -H "X-Proxy: Bearer ${x(20)}"`, "X-Proxy: Bearer password12"],
    ignores: ["the bearer token is missing", "Bearer $TOKEN", "see the bearer section12"],
  },
  valueAt(
    "api-key-header",
    ["key", "token", "secret", "password", "auth"],
    String.raw`(?:key|token|secret|password|auth)(?<=(?<![\w/-])(?:x-|(?:-H|--header)(?:\s{1,4}|=)?["'])[a-z0-9-]{0,60})(?<!(?:idempotency|websocket|cache|surrogate|sort|trace|page|continuation)-(?:key|token))(?![\w-])\\?["']?\s{0,4}[:=]\s{0,4}(?!(?<=["']\s{0,4}[:=]\s{0,4})[A-Za-z_.]{1,60}[\s,;)}\]])`,
    ["curl -H 'X-API-Key: abc123'", "http h X-Vault-Token:abc", "curl -H 'token: abc' h"],
    [
      'curl -H "X-API-Key: $KEY"',
      "X-Frame-Options: DENY",
      "curl -H 'Idempotency-Key: abc123' h",
      "headers = {'X-Api-Key': key}",
      "git clone https://x-access-token:$T@example.com/x",
    ],
  ),
  {
    id: "cookie-header",
    keywords: ["cookie:", 'cookie":', "cookie="],
    pattern:
      /cookie\\?["']?[:=]\s{0,4}\\?["']?(?<secret>[^\s"'=;&|<>$]{1,256}=(?!\$)[^\s"';&|]{1,4096}(?:;\s?[^\s"'=;&|<>]{1,256}=[^\s"';&|]{0,4096}){0,50})/iy,
    continues: /[^\s"';&|]{1,4096}/y,
    accepts: isSecretValue,
    matches: ["curl -H 'Cookie: session=abc; x=1'", "Set-Cookie: a=b; Path=/"],
    ignores: ['curl -H "Cookie: $COOKIE"', 'curl -H "Cookie: session=$S"'],
  },
  ...TOKEN_RULES,
  ...PLACE_RULES,
  ...INPUT_RULES,
  ...COMMAND_RULES,
  ...CALL_RULES,
  {
    id: "option-value",
    keywords: SECRET_WORDS.concat("--pat"),
    pattern: new RegExp(
      String.raw`(?:${SECRET_WORD}\d?|--pat)(?![\w-])(?=\s|\\\n|\\?["']\s?,)${NAMES_SECRET}(?<=(?<![\w-])--?(?<name>[A-Za-z0-9][\w.-]{0,79}))${OPTION_GAP}${VALUE}`,
      "iy",
    ),
    accepts: (secret, { name = "" }) =>
      isSecretOption(name) && isSecretValue(secret) && !isPass(name, secret),
    matches: [
      "mysql --password hunter2",
      "tool --api-token 'abc def'",
      "x --client-secret s3cr3t",
      "aws s3 cp a s3://b --sse-c-key hunter2",
      'CMD ["tool", "--token", "abc"]',
      "keytool -storepass changeit",
    ],
    ignores: [
      "x --password",
      "x --password $PW",
      'x --token "$T"',
      "x --password-stdin y",
      "gh auth login --with-token\nls -l",
      "x --token-file f",
      "aws s3 cp a s3://b --sse-c-key fileb://k",
      "x --token ./t",
      "tokenize --stop-token END",
      "ssh-keygen --key id_rsa",
      "docker build --secret id=npm,src=.npmrc .",
      "ffmpeg -pass 1 x.mp4",
    ],
  },
  {
    id: "default-value",
    keywords: SECRET_WORDS,
    pattern: new RegExp(
      String.raw`${SECRET_WORD}${SUFFIX}:?[-=](?<=\$\{(?<name>[\w.-]{1,80}?):?[-=])(?<secret>${DEFAULT})(?=\})`,
      "iy",
    ),
    accepts: (secret, groups) =>
      isSecretName(groups["name"] ?? "") && isSecretValue(secret, groups),
    matches: [': "${DB_PASSWORD:-hunter2}"', ": ${API_KEY:=abc}", "echo ${MY_TOKEN-abc}"],
    ignores: ["${API_KEY:-}", "${API_KEY:-$OTHER}", "${CACHE_KEY:-abc}", "${TOKEN:?missing}"],
  },
  {
    // A shell reads the whole quoted word as one assignment.
    id: "quoted-assignment",
    keywords: SECRET_WORDS,
    pattern: new RegExp(
      String.raw`${SECRET_WORD}${SUFFIX}\+?=(?<=${ASSIGNS}(?:\s{1,4}|=)["'](?<name>[\w.-]{1,80}?)\+?=)(?<whole>${WHOLE})`,
      "iy",
    ),
    accepts: (secret, groups) =>
      isSecretName(groups["name"] ?? "") && isSecretValue(secret, groups),
    matches: ["env 'API_KEY=one two' x", `docker run -e "DB_PASSWORD=one two" x`],
    ignores: ["env 'API_KEY=$OTHER' x", "export 'CACHE_KEY=a b'", "env 'TOKEN=' x"],
  },
  {
    id: "named-value",
    keywords: SECRET_WORDS,
    pattern: new RegExp(
      String.raw`${SECRET_NAME}${NAMES_SECRET}(?<!--(?:set|update)-secrets[=\s]\S{0,200})${CLOSED}\+?=(?![=~]|${CALL}|\k<name>(?:,\s|\)))${VALUE}`,
      "iy",
    ),
    accepts: (secret, groups) =>
      isSecretName(groups["name"] ?? "") && isSecretValue(secret, groups),
    matches: [
      "API_KEY=abc make",
      String.raw`API_KEY=a\ b make`,
      "export DB_PASSWORD='a b'",
      "export API_KEY+=abc",
      "API_KEY=a'b c'\"d\" make",
      String.raw`API_KEY='it'\''s a secret' make`,
      "docker run -e MY_TOKEN=abc x",
      "aws_secret_access_key=abc",
      "Server=db;Uid=sa;Pwd=hunter2;",
      "java -Djavax.net.ssl.keyStorePassword=changeit",
      "DB_PASSWORD_PROD=hunter2 make",
      "helm install x --set auth.password=hunter2,auth.user=ada",
      "set PGPASSWORD=abc(9d",
      "API_TOKEN=[k9]+x1",
    ],
    ignores: [
      "KEY=$OTHER",
      "gcloud run deploy x --set-secrets=API_KEY=api-key:latest",
      'A_KEY="${A_KEY:-$(pass a)}"',
      "tool --token=TOKEN",
      'TOKEN="$OTHER"',
      "TOKEN=$(cat t)",
      "KEYBOARD=us",
      "f(api_token=api_token, secret=os.getenv('X'), password=None, x=1)",
      "grep -oP 'token=\\K\\S+' x",
      "--key=",
      "TOKEN= make",
      "PWD=/work/x make",
      "kubectl get pods -l key=value",
      "CACHE_KEY=linux-x64 make",
      "TOKEN_FILE=/run/x make",
      'if [ "$TOKEN" == "x" ]; then',
      "curl --key=client.pem x",
    ],
  },
  {
    id: "labelled-value",
    keywords: SECRET_WORDS,
    pattern: new RegExp(
      // This annotation of an ingress contains the name of a cluster secret, not its value.
      String.raw`${SECRET_NAME}(?<!kubernetes\.io\/auth-(?:tls-)?secret)${LABELS}${LOOSE_VALUE}`,
      "iy",
    ),
    accepts: (secret, groups) =>
      isSecretName(groups["name"] ?? "") && isSecretValue(secret, groups),
    matches: [
      `curl -d '{"password": "hunter2"}'`,
      String.raw`curl -d "{\"apiKey\":\"abc\"}"`,
      "password: hunter2",
      `$env:API_KEY = "abc"`,
      "ENV['SECRET_KEY_BASE'] = 'hunter2'",
      `client-key-data: ${x(40)}`,
    ],
    ignores: [
      "password: required",
      "the api_key: it is missing",
      "registry/my-token:v1.2.3",
      "kubectl get secret db1 -o yaml",
      "nginx.ingress.kubernetes.io/auth-secret: basic-auth1",
      '{"password": "$PASSWORD"}',
    ],
  },
  valueAt(
    // In capitals, it would otherwise be the shell's own variable.
    "connection-password",
    ["pwd="],
    String.raw`pwd=(?<==[^;\n]{1,200};\s?pwd=)`,
    ["Server=h;UID=sa;PWD=hunter2;"],
    ["cd x;PWD=/y ls", "A=b;PWD=$P"],
  ),
  {
    ...valueAt(
      "named-pair",
      SECRET_WORDS,
      // In `for key, value := range m`, the name is not the value of anything.
      String.raw`${SECRET_NAME}(?!,\s(?<![:=]\s{0,4}[\w.-]{1,80},\s))\\?["']?\s{0,4},?\s{0,20}\\?["']?(?:parameter)?value\\?["']?\s{0,2}[:=]\s{0,4}`,
      ['[{"name":"DB_PASSWORD","value":"hunter2"}]', "- name: API_TOKEN\n  value: hunter2"],
      [
        "- name: API_TOKEN\n  valueFrom: x",
        '{"name":"TOKEN","value":"$T"}',
        "for key, value := range m {",
        "{ key, value: item.value }",
      ],
    ),
    reach: "next",
  },
  {
    id: "registry-login",
    keywords: ['auth"', 'auth\\"'],
    pattern:
      /auth\\?"\s?:\s?\\?"(?=[^"]{0,200}[A-Z])(?=[^"]{0,200}[a-z])(?=[^"]{0,200}[0-9=])(?<secret>[A-Za-z0-9+/]{12,512}={0,2})(?=\\?")/y,
    matches: [`{"auths":{"h":{"auth":"YWRhOmh1bnRlcjI="}}}`],
    ignores: ['{"auth":"required"}', '{"auth":"$A"}'],
  },
];

/** Whether an option is an encoder's number of a pass, as in `-pass 2`. */
function isPass(name: string, value: string): boolean {
  return name === "pass" && /^\d$/.test(value);
}
