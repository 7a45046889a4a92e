/**
 * Every setting, once: its name in the environment, its default, what is accepted and what it means.
 */
import { LOG_LEVELS } from "./core/log.ts";
import {
  boolean,
  catalogSource,
  choice,
  hosts,
  hours,
  httpUrl,
  integer,
  origins,
  text,
  wordOrToken,
  type Kind,
} from "./core/setting-kinds.ts";

/** A setting. */
export interface Setting<T> {
  readonly variable: string;
  readonly kind: Kind<T>;
  /** As the environment would give it; `undefined` for a setting without one. */
  readonly fallback: string | undefined;
  readonly meaning: string;
  readonly isSecret?: true;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** The settings by their options. */
export const settings = {
  host: setting("HOST", text, "127.0.0.1", "The address to listen on"),
  port: setting("PORT", integer(0, 65_535), "8080", "The port to listen on; 0 picks a free one"),
  dataDir: setting("DATA_DIR", text, "./data", "The directory that holds everything stored"),
  requireAuth: setting(
    "REQUIRE_AUTH",
    boolean(),
    "false",
    "Whether `/api/v1` demands credentials; read again on every request",
  ),
  roles: setting(
    "ROLES",
    choice(["carried", "enforced"]),
    "carried",
    "`enforced` makes roles restrict users on `/api/v1`; `carried` only reports them",
  ),
  publicSurface: setting(
    "PUBLIC_SURFACE",
    choice(["open", "off"]),
    "open",
    "`off` answers 404 on `/api/public`",
  ),
  jwtSecret: setting(
    "JWT_SECRET",
    text,
    undefined,
    "The secret that signs tokens; generated once and kept in `DATA_DIR/secret` when absent",
    true,
  ),
  jwtExpiryHours: setting("JWT_EXPIRY_HOURS", hours(), "24", "How long a token is valid, in hours"),
  corsOrigins: setting(
    "CORS_ORIGINS",
    origins(),
    "",
    "Comma-separated origins whose pages may call, `*` for any; see `CORS_PAGES_DEV`",
  ),
  corsPagesDev: setting(
    "CORS_PAGES_DEV",
    choice(["on", "off"]),
    "on",
    "`on` lets pages of `https://<anything>.pages.dev` call, as the contract has it",
  ),
  allowedHosts: setting(
    "ALLOWED_HOSTS",
    hosts(),
    "",
    "Comma-separated names that requests may be for, beside loopback names and that of `BASE_URL`",
  ),
  catalogSource: setting(
    "CATALOG_SOURCE",
    catalogSource(),
    "embed",
    "`embed`, the path of a file, or an `http(s)` URL that is fetched again every 10 minutes",
  ),
  baseUrl: setting(
    "BASE_URL",
    httpUrl(),
    undefined,
    "What the documents name as this server; made from `HOST` and `PORT` when absent",
  ),
  environment: setting("ENVIRONMENT", text, "development", "Reported as it is"),
  edition: setting("EDITION", text, "community", "Reported as it is"),
  adminEmail: setting(
    "ADMIN_EMAIL",
    text,
    undefined,
    "Creates this admin at start when no such user exists; never changes one",
  ),
  adminPassword: setting("ADMIN_PASSWORD", text, undefined, "That admin's password", true),
  maxConnections: setting(
    "MAX_CONNECTIONS",
    integer(16, 1_000_000),
    "10000",
    "The most connections that are held at once; the process needs as many file descriptors, and some",
  ),
  maxBodyBytes: setting(
    "MAX_BODY_BYTES",
    integer(KIB, 64 * MIB),
    String(8 * MIB),
    "The largest request body, inflated if it is gzip",
  ),
  maxBatchEvents: setting(
    "MAX_BATCH_EVENTS",
    integer(1, 1_000_000),
    "10000",
    "The most events in one batch",
  ),
  auditDurability: setting(
    "AUDIT_DURABILITY",
    choice(["sync", "write"]),
    "sync",
    "`sync` answers an ingest when its events are on disk, `write` when the system has them",
  ),
  auditSegmentBytes: setting(
    "AUDIT_SEGMENT_BYTES",
    integer(64 * KIB, 1024 * MIB),
    String(64 * MIB),
    "The size at which a segment of the audit log is sealed",
  ),
  auditRetentionDays: setting(
    "AUDIT_RETENTION_DAYS",
    integer(0, 36_500),
    "0",
    "How many days audit events are kept; 0 keeps them all",
  ),
  activityRetentionDays: setting(
    "ACTIVITY_RETENTION_DAYS",
    integer(0, 36_500),
    "400",
    "How many days entries of the activity log are kept, at least the newest 10,000 of an organization; 0 sets no limit of age",
  ),
  maxActivityBytes: setting(
    "MAX_ACTIVITY_BYTES",
    integer(64 * MIB, Number.MAX_SAFE_INTEGER),
    String(256 * MIB),
    "The most bytes that an organization's activity log takes; beyond them its oldest entries are removed",
  ),
  maxAuditBytes: setting(
    "MAX_AUDIT_BYTES",
    integer(MIB, Number.MAX_SAFE_INTEGER),
    String(256 * GIB),
    "The size of an organization's audit log at which no further events are taken",
  ),
  maxRuntimes: setting(
    "MAX_RUNTIMES",
    integer(1, 10_000_000),
    "250000",
    "The most runtimes in an organization's fleet",
  ),
  maxPolicyVersions: setting(
    "MAX_POLICY_VERSIONS",
    integer(1, 1_000_000),
    "10000",
    "The most policy versions of an organization",
  ),
  maxUsers: setting(
    "MAX_USERS",
    integer(1, 1_000_000),
    "10000",
    "The most users of an organization",
  ),
  maxApiKeys: setting(
    "MAX_API_KEYS",
    integer(1, 1_000_000),
    "10000",
    "The most API keys of an organization, without those that are revoked",
  ),
  maxOrganizations: setting(
    "MAX_ORGANIZATIONS",
    integer(1, 1_000_000),
    "10000",
    "The most organizations",
  ),
  publicMaxAuditBytes: setting(
    "PUBLIC_MAX_AUDIT_BYTES",
    integer(MIB, Number.MAX_SAFE_INTEGER),
    String(16 * GIB),
    "The same as `MAX_AUDIT_BYTES` for what comes through `/api/public` while `REQUIRE_AUTH` is `true`",
  ),
  publicMaxRuntimes: setting(
    "PUBLIC_MAX_RUNTIMES",
    integer(1, 10_000_000),
    "25000",
    "The same as `MAX_RUNTIMES` for what comes through `/api/public` while `REQUIRE_AUTH` is `true`",
  ),
  publicMaxPolicyVersions: setting(
    "PUBLIC_MAX_POLICY_VERSIONS",
    integer(1, 1_000_000),
    "1000",
    "The same as `MAX_POLICY_VERSIONS` for what comes through `/api/public` while `REQUIRE_AUTH` is `true`",
  ),
  fleetForgetDays: setting(
    "FLEET_FORGET_DAYS",
    integer(0, 36_500),
    "90",
    "After how many days without a report a runtime is forgotten; 0 forgets none",
  ),
  trustProxy: setting(
    "TRUST_PROXY",
    integer(0, 16),
    "0",
    "How many proxies in front are believed about the caller's address",
  ),
  metrics: setting(
    "METRICS",
    wordOrToken("off", "open"),
    "off",
    "`off` answers 404 on `/metrics`, `open` shows it to everybody; anything else is a bearer token that it demands",
    true,
  ),
  demo: setting(
    "DEMO",
    boolean(),
    "false",
    "An open demo: seeded, limited and reset daily; `REQUIRE_AUTH` is then `true` unless it is set",
  ),
  logLevel: setting("LOG_LEVEL", choice(LOG_LEVELS), "info", "The least level that is logged"),
} as const;

function setting<T>(
  variable: string,
  kind: Kind<T>,
  fallback: string | undefined,
  meaning: string,
  isSecret?: true,
): Setting<T> {
  return { variable, kind, fallback, meaning, ...(isSecret && { isSecret }) };
}
