import type { Config } from "./config.ts";

/** RFC 7518 §3.2: a secret for HS256 is at least as long as the hash. */
const SAFE_SECRET_BYTES = 32;
/** A `METRICS` token below this length can be found by trial and error. */
const SAFE_TOKEN_LENGTH = 16;

/**
 * Lists the misspelled settings and the risks in the settings, as sentences for the operator. Each names the settings
 * and the way out. They are logged after the service listens, so that a failed start prints one line only.
 *
 * @param isOnNetwork whether other machines can reach the listening socket
 */
export function startWarnings(config: Config, isOnNetwork: boolean): readonly string[] {
  const { corsOrigins, demo, jwtSecret, metrics, publicSurface, corsPagesDev, roles } = config;
  const isProtected = config.requireAuth();
  const isShort = jwtSecret !== undefined && Buffer.byteLength(jwtSecret) < SAFE_SECRET_BYTES;
  const isToken = metrics !== "off" && metrics !== "open";
  const warnings: readonly (readonly [applies: boolean, warning: string])[] = [
    [isShort, `JWT_SECRET is shorter than ${SAFE_SECRET_BYTES} bytes, which is easier to guess`],
    [
      isToken && metrics.length < SAFE_TOKEN_LENGTH,
      `METRICS is a token of fewer than ${SAFE_TOKEN_LENGTH} characters, which is easy to guess`,
    ],
    [
      isProtected && publicSurface === "open" && !demo,
      "REQUIRE_AUTH=true with PUBLIC_SURFACE=open: whoever reaches this port can still replace the " +
        "policy of the default organization through /api/public; PUBLIC_SURFACE=off closes that",
    ],
    [
      isProtected && roles === "carried" && !demo,
      "REQUIRE_AUTH=true with ROLES=carried: every user may do everything in the organization, " +
        "whatever the role; ROLES=enforced makes roles restrict users",
    ],
    [
      !isProtected && isOnNetwork && !demo,
      `REQUIRE_AUTH=false with HOST="${config.host}": whoever reaches this port can read and change ` +
        "everything on /api/v1; REQUIRE_AUTH=true closes that, and so does a HOST of loopback",
    ],
    [
      !isProtected && corsOrigins.includes("*"),
      "REQUIRE_AUTH=false with CORS_ORIGINS=*: any page that a browser on this network opens can read " +
        "and change everything on /api/v1; naming the origins in CORS_ORIGINS closes that",
    ],
    [
      !isProtected && corsPagesDev === "on",
      "REQUIRE_AUTH=false with CORS_PAGES_DEV=on: any page of *.pages.dev that a browser on this network " +
        "opens can read and change everything on /api/v1; CORS_PAGES_DEV=off closes that",
    ],
    [
      !isProtected && roles === "enforced",
      "ROLES=enforced with REQUIRE_AUTH=false: roles restrict signed-in users only, and callers " +
        "without credentials may do everything in the default organization",
    ],
    [
      !isProtected && demo,
      "DEMO=true with REQUIRE_AUTH=false: on /api/v1 everybody may create users, keys and organizations",
    ],
  ];
  const risks = warnings.filter(([applies]) => applies).map(([, warning]) => warning);
  return [...(config.misspelled ?? []), ...risks];
}
