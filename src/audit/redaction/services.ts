/** Services that are recognised by the prefix of their tokens alone. */
import { HEX, type RedactionRule, sample as x, token } from "./shapes.ts";

/** The least number of letters, digits, `_`, `-`, `.` and `=` after the prefix, as random as `RANDOM` says; then the prefixes. */
const PREFIXES: Readonly<Record<string, readonly [number, ...string[]]>> = {
  adafruit: [28, "aio_"],
  age: [50, "AGE-SECRET-KEY-1"],
  alibaba: [16, "LTAI"],
  artifactory: [56, "AKCp", "cmVmdGtu"],
  brevo: [60, "xkeysib-", "xsmtpsib-"],
  buildkite: [30, "bkua_", "bkct_"],
  circleci: [30, "CCIPAT_", "CCIPRJ_"],
  clojars: [50, "CLOJARS_"],
  cloudflare: [150, "v1.0-"],
  contentful: [40, "CFPAT-"],
  "crates-io": [32, "cio"],
  cursor: [60, "crsr_"],
  defined: [70, "dnkey-"],
  doppler: [40, "dp.pt.", "dp.st.", "dp.ct.", "dp.sa."],
  dropbox: [100, "sl."],
  duffel: [40, "duffel_live_", "duffel_test_"],
  dynatrace: [20, "dt0c01.", "dt0s01."],
  e2b: [40, "e2b_"],
  easypost: [50, "EZAK", "EZTK"],
  facebook: [60, "EAA"],
  figma: [36, "figd_", "figo_"],
  flutterwave: [20, "FLWSECK-", "FLWSECK_TEST-"],
  fly: [40, "fo1_", "fm1r_", "fm2_"],
  "frame-io": [60, "fio-u-"],
  grafana: [32, "glc_", "glsa_"],
  groq: [40, "gsk_"],
  heroku: [30, "HRKU-"],
  hubspot: [36, "pat-na1-", "pat-na2-", "pat-eu1-"],
  intercom: [50, "dG9rO"],
  ionic: [42, "ion_"],
  langsmith: [40, "lsv2_pt_", "lsv2_sk_"],
  linear: [32, "lin_api_", "lin_oauth_"],
  mapbox: [60, "sk.eyJ"],
  neon: [50, "napi_"],
  netlify: [36, "nfp_", "nfc_"],
  "new-relic": [24, "NRAK-", "NRII-", "NRJS-", "NRRA-"],
  notion: [40, "ntn_"],
  "npm-granular": [36, "npms_"],
  nuget: [43, "oy2"],
  nvidia: [50, "nvapi-"],
  onepassword: [100, "ops_eyJ"],
  perplexity: [40, "pplx-"],
  pinecone: [40, "pcsk_"],
  plaid: [36, "access-sandbox-", "access-development-", "access-production-"],
  planetscale: [32, "pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
  polar: [40, "polar_oat_", "polar_pat_"],
  posthog: [36, "phx_", "phs_"],
  postman: [50, "PMAK-"],
  prefect: [36, "pnu_", "pnb_"],
  pulumi: [40, "pul-"],
  razorpay: [14, "rzp_live_"],
  readme: [60, "rdme_"],
  render: [20, "rnd_"],
  replicate: [36, "r8_"],
  rootly: [60, "rootly_"],
  rubygems: [40, "rubygems_"],
  sentry: [40, "sntrys_", "sntryu_"],
  settlemint: [16, "sm_pat_", "sm_aat_", "sm_sat_"],
  shippo: [40, "shippo_live_", "shippo_test_"],
  sonar: [40, "sqp_", "squ_", "sqa_"],
  sourcegraph: [40, "sgp_", "slk_"],
  square: [22, "sq0atp-", "sq0csp-", "sq0idp-"],
  supabase: [22, "sbp_", "sb_secret_"],
  tailscale: [16, "tskey-"],
  tavily: [28, "tvly-"],
  tencent: [32, "AKID"],
  typeform: [40, "tfp_"],
  vercel: [24, "vcp_", "vck_", "vci_", "vca_"],
  xai: [60, "xai-"],
  xata: [40, "xau_"],
  yandex: [35, "AQVN"],
};

/**
 * Eight letters and digits together, one of each at least: the words of `rnd_revenue_by_region_2024` and
 * `access-production-logs-2024-eu-west-1` are not.
 */
const RANDOM =
  "(?=[A-Za-z0-9_.=-]{0,200}?(?=[A-Za-z]{0,7}[0-9])(?=[0-9]{0,7}[A-Za-z])[A-Za-z0-9]{8})";

/** The rules, one for each service. */
export const SERVICE_RULES: readonly RedactionRule[] = [
  ...Object.entries(PREFIXES).map(([id, [least, ...prefixes]]) =>
    token(
      id,
      prefixes.map((prefix) => prefix.toLowerCase()),
      prefixes
        .map(
          (prefix) =>
            `${prefix.replaceAll(".", "\\.")}(?=[A-Za-z_-]{0,200}[0-9])${RANDOM}[A-Za-z0-9_.=-]{${least},}`,
        )
        .join("|"),
      prefixes.map((prefix) => prefix + x(least)),
      prefixes.flatMap((prefix) => [
        prefix + x(least - 1),
        `${prefix}${"name_of-".repeat(20)}v2-2024`,
      ]),
    ),
  ),
  // Names of other things begin with these prefixes, too.
  token("elevenlabs", ["sk_"], "sk_[0-9a-f]{48}", [`sk_${x(48, HEX)}`], [`sk_${x(48)}`]),
  token("firecrawl", ["fc-"], "fc-[0-9a-f]{32}", [`fc-${x(32, HEX)}`], [`fc-${x(32)}`]),
  token(
    "fireworks",
    ["fw_"],
    "fw_[A-Za-z0-9]{24}",
    [`fw_${x(24)}`],
    ["fw_allow_https_to_proxy_24"],
  ),
  token(
    "harness",
    ["pat.", "sat."],
    String.raw`[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}`,
    [`pat.${x(22)}.${x(24, HEX)}.${x(20)}`],
    ["pat.example.com"],
  ),
  token("infracost", ["ico-"], "ico-[A-Za-z0-9]{32}", [`ico-${x(32)}`], ["ico-cache-2024"]),
  token(
    "launchdarkly",
    ["sdk-", "mob-"],
    "(?:sdk|mob)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ["sdk-0a1b2c3d-4e5f-4a1b-8c3d-4e5f0a1b2c3d"],
    ["sdk-2024-11"],
  ),
  token(
    "lob",
    ["live_", "test_"],
    "(?:live|test)_[0-9a-f]{35}",
    [`live_${x(35, HEX)}`],
    ["test_0a1b"],
  ),
  token(
    "notion-secret",
    ["secret_"],
    "secret_[A-Za-z0-9]{43}",
    [`secret_${x(43)}`],
    ["secret_name"],
  ),
  token(
    "okta",
    ["ssws "],
    "SSWS (?<secret>[A-Za-z0-9_-]{40,})",
    [`SSWS ${x(42)}`],
    ["SSWS $TOKEN"],
  ),
  token(
    "resend",
    ["re_"],
    "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}",
    [`re_${x(8)}_${x(24)}`],
    ["re_build_all"],
  ),
  token(
    "stytch",
    ["secret-live-", "secret-test-"],
    "secret-(?:live|test)-[A-Za-z0-9_-]{32,44}=",
    [`secret-live-${x(35)}=`],
    [`secret-live-${x(35)}`],
  ),
];
