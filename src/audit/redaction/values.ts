/** Distinguishes secrets from harmless values, and names of secrets from other names. */

export const MARK = "[redacted:";

const MASKED =
  /^(?:[*\u2022x.\u2026_-]{1,64}\/?|%[sdv]|\[?redacted\]?|<[^<>]{0,100}>?|\{[\w.]{0,100}\}|your[-_ ][\w -]{0,60})$/i;
/**
 * The pattern of a value in a regular expression or `sed`, and an interpolation of `jq`. A password may begin as
 * `[k9]+` does.
 */
const SEARCHED =
  /^(?:(?:\\?\(|\\K){0,2}(?:(?:\.|\\[wWsSdD]|\[[^\]]{0,40}(?:\w-\w|\\\w)[^\]]{0,40}\])(?:[*+]|\{\d)|\[\^)|\\\([.$]|\/\/[gpI\d]{0,3}$)/;
/** The name of a secret in place of it, as usage texts write it in capitals, and code as a variable. */
const PLACEHOLDER =
  /^(?:(?:[A-Z]{1,20}_){0,4}(?:KEY|TOKEN|SECRET|PASSWORD|VALUE)|(?:api|access|auth|refresh|client|private|session|id|bearer|csrf)_?(?:[kK]ey|[tT]oken|[sS]ecret))$/;
/** The beginning of a hashed password, as systems store it. */
const HASHED = /^\$(?:\d\w?|y|argon2\w{0,2})\$/;
const WORDS =
  /^(?:\d{1,2}|true|false|yes|no|on|off|null|none|nil|undefined|required|optional|public|-)$/i;
const VARIABLES =
  /\$(?:env:)?[A-Za-z_]\w*(?:\([\w.-]{1,80}\))?|\$[\d@*#?!]|\$\{{1,2}[^{}]{0,200}\}{1,2}|%[A-Za-z_]\w*%|\{\{[^{}]{0,200}\}\}/g;
const PATH =
  /^(?:(?:~|\.{1,2}|[A-Za-z]:)?[\\/](?:$|(?<=[~.:][\\/])|(?:app|certs?|config|data|dev|etc|github|home|keys|media|mnt|opt|private|proc|root|run|secrets?|srv|tmp|usr|Users|var|vault|work|workspace)(?:[\\/]|$))|(?:fileb?|env|op|vault|ssm|arn|gs|s3|https?):)/;
const FILE =
  /^(?:[\w./~@-]{0,200}\.(?:json|ya?ml|txt|pem|key|crt|cer|p12|pfx|jks|env|cfg|conf|ini|toml|asc|gpg|pub|kdbx|sh|py|js|ts|creds|p8|ppk|der|keytab|keystore|properties|xml|tfvars)|(?:[\w.-]{1,60}\/){0,8}id_(?:rsa|dsa|ecdsa|ed25519)|@[\w./~-]{1,200})$/;
const CODE =
  /^(?:process\.env|os\.environ|env|ENV|config|settings|secrets|self|this|args|opts|options|vars?|local|module|data|req|request|res|response|ctx|context|props|event|headers)[.[]/;

/**
 * Whether a value is a secret, and not a variable, a placeholder, a file or a mark of redaction.
 *
 * @param single the value if it was in single quotes, in which a shell expands no variables
 */
export function isSecretValue(
  value: string,
  { single }: { readonly single?: string } = {},
): boolean {
  if (single !== undefined && /^\$[a-z]/.test(single)) return true;
  if (HASHED.test(value)) return true;
  if (value.includes(MARK) || MASKED.test(value) || WORDS.test(value)) return false;
  if (SEARCHED.test(value)) return false;
  if (PLACEHOLDER.test(value) || PATH.test(value) || FILE.test(value) || CODE.test(value))
    return false;
  if (!/[$%{]/.test(value)) return true;
  const rest = value.replace(VARIABLES, "");
  if (rest === value) return !/^\$(?:\(|\{[^}]*$|$)/.test(value);
  return !/^[-.:/@,_]{0,64}$/.test(rest) && !rest.startsWith("/");
}

const SECRET_ENDINGS = /(?:password|passwd|passphrase|pwd|token|secret|credentials?|creds)$|^otp$/;
const PASS =
  /^(?:(?:db|user|root|admin|my|sql|pg|store|key|http|proxy|smtp|mail|imap|ftp|smb|snmp|ldap|bind|rpc|vpn|wifi|web|app|api|auth|login|old|new|become|sudo|ssh|remote|local)?|\w{0,20}(?:store|key))pass$/;
/** A name in capitals such as `ROUTERPASS`. */
const CAPITAL_PASS = /^[A-Z_\d]{0,60}(?<!COM|BY|TRES|SUR|OVER|UNDER)PASS$/;
/** Words that make a name ending in `token` a position in a list or text, not a credential. */
const PLACES = new Set(["next", "max", "min", "total", "page", "continuation", "pagination", "starting", "cancellation", "start", "stop", "end", "pad", "bos", "eos", "sync", "idempotency", "mask", "cls", "sep", "unk"]); // oxfmt-ignore
/** Words that make a name ending in `key` a key of data, not a credential. */
const DATA_KEYS = new Set(["public", "pub", "primary", "foreign", "cache", "sort", "partition", "shard", "range", "hash", "object", "row", "col", "column", "group", "route", "routing", "map", "dict", "label", "lookup", "unique", "natural", "composite", "hot", "short", "arrow", "i18n", "translation", "locale", "config", "setting", "feature", "flag", "message", "event", "tag", "meta", "metadata", "dedup", "idempotency", "join", "issue", "project", "sonar", "topology", "registry", "index", "menu", "state", "parameter", "socket", "build", "password", "token"]); // oxfmt-ignore
/** Words before `key` in options that take a secret; other options with keys take files and names. */
const KEYS =
  "api|access|account|admin|app|auth|client|consumer|customer|decryption|encryption|hmac|license|master|private|secret|service|session|shared|signing|sse_c|storage|subscription|webhook";
const OPTION_KEY = new RegExp(`(?:^|_)(?:${KEYS})_?key$`);
const NO_KEYS =
  /(?:monkey|donkey|turkey|hockey|jockey|whiskey|hotkey|sshkey|signingkey|pubkey|publickey|sortkey|keykey)$/;
/** The shell's own variables. */
const SHELLS_OWN = new Set(["PWD", "OLDPWD"]);

/** Whether a name before `=` or `:`, such as `DB_PASSWORD` or `apiKey`, is that of a secret. */
export function isSecretName(name: string): boolean {
  if (SHELLS_OWN.has(name)) return false;
  const words = wordsOf(name);
  const [last = "", before = ""] = words.split("_").reverse();
  if (last.endsWith("token")) return !PLACES.has(before);
  if (SECRET_ENDINGS.test(last)) return before !== "existing";
  if (PASS.test(last) || CAPITAL_PASS.test(name)) return true;
  if (name.startsWith("-") && !/^-[DP]/.test(name)) return OPTION_KEY.test(words);
  if (last === "key") {
    if (/\.key$/i.test(name) && !OPTION_KEY.test(words)) return false;
    if (before === "" || before === "d") return name === "KEY";
    return !DATA_KEYS.has(before);
  }
  if (!last.endsWith("key") || NO_KEYS.test(last)) return false;
  return name.toUpperCase() === name || OPTION_KEY.test(words);
}

/** Whether an option without its dashes, such as `client-secret`, takes a secret. */
export function isSecretOption(name: string): boolean {
  return isSecretName(`--${name}`) || name === "pat";
}

/** The words of a name in lower case, with `_` between them. */
function wordsOf(name: string): string {
  return name
    .replace(/^-+(?:D|P(?=[a-z]+[A-Z._]))?/, "")
    .replace(/(?<=[a-z])\d$/i, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[-.]/g, "_");
}
