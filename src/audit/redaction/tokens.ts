/** Tokens of services that are recognised by their prefix. */
import { SERVICE_RULES } from "./services.ts";
import { type RedactionRule, sample as x, token } from "./shapes.ts";

const HEX = "0a1b2c3d4e5f";

/** The rules, one for each service. */
export const TOKEN_RULES: readonly RedactionRule[] = [
  {
    id: "jwt",
    keywords: ["eyj"],
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}/y,
    matches: [`eyJhbGciOiJIUzI1NiJ9.${x(20)}.${x(20)}`, `eyJhbGciOiJub25lIn0.${x(20)}.`],
    ignores: ["eyJhbGciOi"],
  },
  token(
    "github",
    ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    "gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}",
    [`ghp_${x(36)}`, `github_pat_${x(82)}`],
    ["ghp_short"],
  ),
  token(
    "gitlab",
    ["glpat-", "gldt-", "glrt-", "glrtr-", "glptt-", "glft-", "glffct-", "glsoat-", "glcbt-", "glimt-", "glagent-", "glwt-", "gr1348941"], // oxfmt-ignore
    "gl(?:pat|dt|rtr?|ptt|ft|ffct|soat|cbt|imt|agent|wt)-[A-Za-z0-9_=.-]{16,}|GR1348941[A-Za-z0-9_-]{16,}",
    [`glpat-${x(20)}`],
    ["glpat-x"],
  ),
  {
    // A secret key has no prefix of its own. It is recognised behind the id of its key.
    id: "aws-secret-key",
    keywords: ["akia", "asia"],
    pattern:
      /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}[\s:/,;"'|=]{1,12}(?![0-9a-f]{40})(?<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])/y,
    matches: [`AKIA${x(16, "ABCDEFGH23456789")} / ${x(40)}`],
    ignores: ["AKIASHORT / abc"],
  },
  token(
    "aws-access-key",
    ["akia", "asia", "abia", "acca", "absk"],
    "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|ABSK[A-Za-z0-9+/]{40,}={0,2}",
    [`AKIA${x(16, "ABCDEFGH23456789")}`],
    ["AKIASHORT"],
  ),
  token(
    "aws-session-token",
    ["iqojb3jpz2lu", "fwogzxivyxdz"],
    "(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/]{80,}={0,2}",
    [`IQoJb3JpZ2lu${x(200)}==`],
    ["IQoJb3JpZ2luX2Vj"],
  ),
  token("mailgun", ["key-"], "key-[0-9a-f]{32}", [`key-${x(32, HEX)}`], ["key-value"]),
  token(
    "google",
    ["aiza", "gocspx-", "ya29.", "1//0"],
    String.raw`AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{30,}`,
    [`AIza${x(35)}`, `ya29.${x(40)}`],
    ["AIza12"],
  ),
  token(
    "slack",
    ["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"],
    String.raw`xox[a-eoprs](?:\.xox[bp])?-[A-Za-z0-9%/+-]{10,}|xapp-[A-Za-z0-9-]{10,}`,
    [`xoxb-123456789012-${x(24)}`],
    ["xoxb-1"],
  ),
  {
    id: "webhook",
    keywords: ["hooks.slack.com/", "/api/webhooks/", ".webhook.office.com/"],
    pattern:
      /(?:hooks\.slack\.com\/(?:services|workflows|triggers)|(?<=discord(?:app)?\.com)\/api\/webhooks\/\d{5,30}|\.webhook\.office\.com\/webhookb2)\/(?<secret>[\w/@.-]{20,})/y,
    matches: [
      `https://hooks.slack.com/services/T0/B0/${x(24)}`,
      `https://discord.com/api/webhooks/123456789012345678/${x(68)}`,
    ],
    ignores: ["https://hooks.slack.com/services/x"],
  },
  token(
    "stripe",
    ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
    "[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}",
    [`sk_live_${x(24)}`],
    ["pk_live_abcdefghijkl"],
  ),
  token("npm", ["npm_"], "npm_[A-Za-z0-9]{30,}", [`npm_${x(36)}`], ["npm_config_cache"]),
  token("pypi", ["pypi-"], "pypi-[A-Za-z0-9_-]{32,}", [`pypi-${x(80)}`], ["pypi-server"]),
  token(
    "anthropic",
    ["sk-ant-"],
    "sk-ant-[A-Za-z0-9_-]{16,}",
    [`sk-ant-api03-${x(80)}`],
    ["sk-ant-"],
  ),
  token(
    "openai",
    ["sk-"],
    "(?<![-_])sk-(?:(?:proj|svcacct|admin|None|or-v1|lf|live|test)-[A-Za-z0-9_-]{20,}|(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{20,})",
    [`sk-${x(48)}`, `sk-proj-${x(60)}`],
    ["sk-learn", "task-runner-with-a-long-name", "sk-this-is-a-long-name-of-a-branch"],
  ),
  token(
    "azure",
    ["accountkey=", "sharedaccesskey=", "8q~"],
    "(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{20,}={0,2})",
    [`AccountKey=${x(86)}==`],
    ["AccountKey=$KEY"],
  ),
  {
    id: "azure-client-secret",
    keywords: ["8q~", "7q~"],
    pattern: /(?<=[A-Za-z0-9_.~-]{3})[78]Q~[A-Za-z0-9_.~-]{30,40}/y,
    matches: [`abc8Q~${x(34)}`],
    ignores: ["abc8Q~x"],
  },
  {
    id: "url-signature",
    keywords: ["sig=", "signature="],
    pattern: /(?<=[?&](?:x-(?:amz|goog)-)?)sig(?:nature)?=(?<secret>[A-Za-z0-9%+/=_-]{16,})/iy,
    matches: [`https://a.blob.core.windows.net/b?sv=1&sig=${x(40)}%3D`],
    ignores: ["https://example.com/?sig=1", "git log --show-signature"],
  },
  token(
    "digitalocean",
    ["dop_v1_", "doo_v1_", "dor_v1_"],
    "do[opr]_v1_[a-f0-9]{40,}",
    [`dop_v1_${x(64, HEX)}`],
    ["dop_v1_x"],
  ),
  token(
    "hugging-face",
    ["hf_", "api_org_"],
    "(?:hf|api_org)_[A-Za-z0-9]{30,}",
    [`hf_${x(34, "aBcDeF")}`],
    ["hf_hub_download"],
  ),
  token(
    "twilio",
    [..."0123456789abcdef"].map((digit) => `sk${digit}`),
    "SK[a-f0-9]{32}",
    [`SK${x(32, HEX)}`],
    ["SKabc"],
  ),
  token(
    "sendgrid",
    ["sg."],
    String.raw`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}`,
    [`SG.${x(22)}.${x(43)}`],
    ["SG.a.b"],
  ),
  token(
    "signalbox",
    ["sbx_", "signalbox_"],
    "(?:sbx|signalbox)_(?=[a-z0-9_-]{0,100}[A-Z])[A-Za-z0-9_-]{20,}",
    [`signalbox_${x(43)}`],
    ["signalbox_http_requests_total"],
  ),
  token(
    "docker",
    ["dckr_"],
    "dckr_[po]at_[A-Za-z0-9_-]{20,}",
    [`dckr_pat_${x(27)}`],
    ["dckr_pat_"],
  ),
  token(
    "hashicorp",
    ["hvs.", "hvb.", "hvr."],
    String.raw`hv[sbr]\.[A-Za-z0-9_-]{20,}`,
    [`hvs.${x(90)}`],
    ["hvs.x"],
  ),
  {
    id: "terraform",
    keywords: [".atlasv1."],
    pattern: /(?<=[A-Za-z0-9]{14})\.atlasv1\.[A-Za-z0-9_=-]{40,}/y,
    matches: [`${x(14)}.atlasv1.${x(60)}`],
    ignores: ["a.atlasv1.b"],
  },
  token(
    "shopify",
    ["shpat_", "shpca_", "shppa_", "shpss_"],
    "shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
    [`shpat_${x(32, HEX)}`],
    ["shpat_x"],
  ),
  {
    id: "telegram",
    keywords: [":aa"],
    pattern: /(?<=[0-9]{8,10}):(?<secret>AA[A-Za-z0-9_-]{32,})/y,
    matches: [`curl https://api.telegram.org/bot123456789:AA${x(33)}/getMe`],
    ignores: ["12345678:AAbc"],
  },
  token(
    "databricks",
    ["dapi", "dose", "dkea"],
    "d(?:api|ose|kea)[a-f0-9]{32}(?:-\\d)?",
    [`dapi${x(32, HEX)}`],
    ["dapi"],
  ),
  token(
    "atlassian",
    ["atatt3", "atctt3", "atbb"],
    "AT[AC]TT3[A-Za-z0-9_=-]{40,}|ATBB[A-Za-z0-9]{24,}",
    [`ATATT3${x(180)}`],
    ["ATBB"],
  ),
  ...SERVICE_RULES,
];
