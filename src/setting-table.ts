/**
 * Every setting, once: its name in the environment, its default, its accepted values and its
 * meaning. The comments appear in an embedder's editor, so they use the names of options.
 */
import { LOG_LEVELS } from "./core/log.ts";
import {
  anyText,
  boolean,
  catalogSource,
  choice,
  hosts,
  hours,
  httpUrl,
  integer,
  origins,
  postgresUrl,
  requestUrl,
  wordOrToken,
  type Kind,
} from "./core/setting-kinds.ts";

export interface SettingRow<T> {
  readonly variable: string;
  readonly kind: Kind<T>;
  /** The text that the environment would contain; `undefined` for a setting without a default. */
  readonly fallback: string | undefined;
  readonly isSecret?: true;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
/** Longer names cannot be looked up, and longer paths cannot be opened. */
const MAX_HOST_LENGTH = 255;
const MAX_PATH_LENGTH = 4096;

/** The settings by their options. */
export const settingTable = {
  /** The address to listen on. */
  host: setting("HOST", anyText(MAX_HOST_LENGTH), "127.0.0.1"),
  /** The port to listen on; 0, the default of an embedded service, picks a free one. */
  port: setting("PORT", integer(0, 65_535), "8080"),
  /** The directory for all stored data. */
  dataDir: setting("DATA_DIR", anyText(MAX_PATH_LENGTH), "./data"),
  /** A PostgreSQL database that holds everything stored, in place of `dataDir`; see docs/scale.md. */
  databaseUrl: setting("DATABASE_URL", postgresUrl(), undefined, true),
  /** The most connections to that database, beside a quarter as many and two for searches. */
  databasePoolSize: setting("DATABASE_POOL_SIZE", integer(2, 1_000), "10"),
  /** Whether `/api/v1` requires credentials; read again on every request. */
  requireAuth: setting("REQUIRE_AUTH", boolean(), "false"),
  /** `enforced` makes roles restrict users on `/api/v1`; `carried` only reports them. */
  roles: setting("ROLES", choice(["carried", "enforced"]), "carried"),
  /** `off` answers 404 on `/api/public`. */
  publicSurface: setting("PUBLIC_SURFACE", choice(["open", "off"]), "open"),
  /** The secret that signs tokens; if absent, generated once and stored in `dataDir/secret`. */
  jwtSecret: setting("JWT_SECRET", anyText(), undefined, true),
  /** The lifetime of a token, in hours. */
  jwtExpiryHours: setting("JWT_EXPIRY_HOURS", hours(), "24"),
  /** Origins whose pages may call the API, `*` for any; see `corsPagesDev`. */
  corsOrigins: setting("CORS_ORIGINS", origins(), ""),
  /** `on` lets pages of `https://<anything>.pages.dev` call the API, as the contract requires. */
  corsPagesDev: setting("CORS_PAGES_DEV", choice(["on", "off"]), "on"),
  /** Host names that requests may use, beside loopback names and that of `baseUrl`. */
  allowedHosts: setting("ALLOWED_HOSTS", hosts(), ""),
  /** `embed`, the path of a file, or an `http(s)` URL that is fetched again every 10 minutes. */
  catalogSource: setting("CATALOG_SOURCE", catalogSource(), "embed"),
  /** The server's address in documents; made from `host` and `port` if absent. */
  baseUrl: setting("BASE_URL", httpUrl(), undefined),
  /** Reported unchanged. */
  environment: setting("ENVIRONMENT", anyText(), "development"),
  /** Reported unchanged. */
  edition: setting("EDITION", anyText(), "community"),
  /** Creates this admin at start if no such user exists; never changes one. */
  adminEmail: setting("ADMIN_EMAIL", anyText(), undefined),
  /** That admin's password. */
  adminPassword: setting("ADMIN_PASSWORD", anyText(), undefined, true),
  /** The most open connections; the process needs as many file descriptors, and some more. */
  maxConnections: setting("MAX_CONNECTIONS", integer(16, 1_000_000), "10000"),
  /** The largest request body, inflated if it is gzip. */
  maxBodyBytes: setting("MAX_BODY_BYTES", integer(KIB, 64 * MIB), String(8 * MIB)),
  /** The most events in one batch. */
  maxBatchEvents: setting("MAX_BATCH_EVENTS", integer(1, 1_000_000), "10000"),
  /** `sync` answers an ingest when its events are on disk, `write` when the operating system has them. */
  auditDurability: setting("AUDIT_DURABILITY", choice(["sync", "write"]), "sync"),
  /** `on` replaces secrets in the texts of events before they are stored; `off` keeps them. */
  auditRedaction: setting("AUDIT_REDACTION", choice(["on", "off"]), "on"),
  /** The size at which a segment of the audit log is sealed. */
  auditSegmentBytes: setting(
    "AUDIT_SEGMENT_BYTES",
    integer(64 * KIB, 1024 * MIB),
    String(64 * MIB),
  ),
  /** The seconds between two signed checkpoints of a log that grows; 0 signs none. */
  checkpointSeconds: setting("CHECKPOINT_SECONDS", integer(0, 86_400), "0"),
  /** The Ed25519 key that signs checkpoints, as PKCS#8 PEM or the path of a file with it. */
  logSigningKey: setting("LOG_SIGNING_KEY", anyText(), undefined, true),
  /** The key before it, which signs the first checkpoint of the new key too. */
  logSigningKeyPrevious: setting("LOG_SIGNING_KEY_PREVIOUS", anyText(), undefined, true),
  /** A file that gets a copy of every checkpoint; it should be on a disk of another machine. */
  checkpointFile: setting("CHECKPOINT_FILE", anyText(MAX_PATH_LENGTH), undefined),
  /** An http or https URL that every checkpoint is posted to, such as that of a witness. */
  checkpointUrl: setting("CHECKPOINT_URL", requestUrl(), undefined, true),
  /** How many days audit events are kept; 0 keeps them all. */
  auditRetentionDays: setting("AUDIT_RETENTION_DAYS", integer(0, 36_500), "0"),
  /**
   * How many days entries of the activity log are kept, at least the newest 10,000 of an
   * organization; 0 sets no limit of age.
   */
  activityRetentionDays: setting("ACTIVITY_RETENTION_DAYS", integer(0, 36_500), "400"),
  /**
   * The most bytes that an organization's activity log takes; beyond them its oldest entries are
   * removed.
   */
  maxActivityBytes: setting(
    "MAX_ACTIVITY_BYTES",
    integer(64 * MIB, Number.MAX_SAFE_INTEGER),
    String(256 * MIB),
  ),
  /** The size of an organization's audit log at which no further events are taken. */
  maxAuditBytes: setting(
    "MAX_AUDIT_BYTES",
    integer(MIB, Number.MAX_SAFE_INTEGER),
    String(256 * GIB),
  ),
  /** The most runtimes in an organization's fleet. */
  maxRuntimes: setting("MAX_RUNTIMES", integer(1, 10_000_000), "250000"),
  /** The most policy versions of an organization. */
  maxPolicyVersions: setting("MAX_POLICY_VERSIONS", integer(1, 1_000_000), "10000"),
  /** The most users of an organization. */
  maxUsers: setting("MAX_USERS", integer(1, 1_000_000), "10000"),
  /** The most API keys of an organization, not counting revoked ones. */
  maxApiKeys: setting("MAX_API_KEYS", integer(1, 1_000_000), "10000"),
  /** The most organizations. */
  maxOrganizations: setting("MAX_ORGANIZATIONS", integer(1, 1_000_000), "10000"),
  /** Like `maxAuditBytes`, for requests through `/api/public` while `requireAuth` is `true`. */
  publicMaxAuditBytes: setting(
    "PUBLIC_MAX_AUDIT_BYTES",
    integer(MIB, Number.MAX_SAFE_INTEGER),
    String(16 * GIB),
  ),
  /** Like `maxRuntimes`, for requests through `/api/public` while `requireAuth` is `true`. */
  publicMaxRuntimes: setting("PUBLIC_MAX_RUNTIMES", integer(1, 10_000_000), "25000"),
  /** Like `maxPolicyVersions`, for requests through `/api/public` while `requireAuth` is `true`. */
  publicMaxPolicyVersions: setting("PUBLIC_MAX_POLICY_VERSIONS", integer(1, 1_000_000), "1000"),
  /** The days without a report after which a runtime is forgotten; 0 forgets none. */
  fleetForgetDays: setting("FLEET_FORGET_DAYS", integer(0, 36_500), "90"),
  /** The number of trusted proxies in front, which state the caller's address. */
  trustProxy: setting("TRUST_PROXY", integer(0, 16), "0"),
  /**
   * `off` answers 404 on `/metrics`, `open` lets everyone read it; any other value is the required
   * bearer token.
   */
  metrics: setting("METRICS", wordOrToken("off", "open"), "off", true),
  /** An open demo: seeded, limited and reset daily; `requireAuth` is then `true` unless it is set. */
  demo: setting("DEMO", boolean(), "false"),
  /** The lowest level that is logged. */
  logLevel: setting("LOG_LEVEL", choice(LOG_LEVELS), "info"),
} as const;

function setting<T>(
  variable: string,
  kind: Kind<T>,
  fallback: string | undefined,
  isSecret?: true,
): SettingRow<T> {
  return { variable, kind, fallback, ...(isSecret && { isSecret }) };
}
