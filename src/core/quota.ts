/**
 * Quotas bound how much an organization may store. A store checks its quota before it adds
 * something. Data above a quota is kept and served.
 */
import { InsufficientStorage, TooMany, type Refusal } from "./errors.ts";

/** Retention and the removal of silent runtimes run every hour, so room is not freed sooner. */
const RETRY_SECONDS = 3_600;

/**
 * The length of all labels of an organization's runtimes, as `labelLength` counts it. Labels are in memory, where a
 * character takes several bytes: without this bound, runtimes with 32 long labels would take 20 KiB each. Over files their
 * long texts are in memory too, and count with the labels.
 */
export const MOST_LABEL_LENGTH = 16 << 20;
/** The same for reports through the public surface while it is the smaller one. */
export const PUBLIC_MOST_LABEL_LENGTH = 4 << 20;
const LABELS_RETRY_SECONDS = 60;

/** A bound on one kind of stored data. */
export interface Quota {
  /** The refusal of one more when `used` are stored; `undefined` while there is room. */
  refusal(used: number): Refusal | undefined;
}

/** A quota from a setting, with a count of its refusals. */
export interface SetQuota extends Quota {
  readonly setting: string;
  readonly limit: number;
  readonly refusals: number;
}

/** The values of the settings, by their options. */
export interface QuotaLimits {
  readonly maxAuditBytes: number;
  readonly maxRuntimes: number;
  readonly maxPolicyVersions: number;
  readonly maxUsers: number;
  readonly maxApiKeys: number;
  readonly maxOrganizations: number;
  readonly publicMaxAuditBytes: number;
  readonly publicMaxRuntimes: number;
  readonly publicMaxPolicyVersions: number;
}

/** Returns the quota of a request by its surface. */
export type QuotaOf = (surface: string) => Quota;

export interface Quotas {
  readonly auditBytes: QuotaOf;
  readonly runtimes: QuotaOf;
  /** Checked with the length of all labels of runtimes. */
  readonly labels: QuotaOf;
  readonly policyVersions: QuotaOf;
  readonly users: Quota;
  readonly apiKeys: Quota;
  readonly organizations: Quota;
  /** One quota for each setting. */
  readonly all: readonly SetQuota[];
}

const auditFull = (bytes: number): string =>
  `the organization's audit log has reached ${bytes} bytes, so no events are taken: let AUDIT_RETENTION_DAYS remove old ones, or raise the setting`;

/** The things that quotas count, and how to make room for more. */
const COUNTED = {
  runtimes: [
    "runtimes in the organization",
    "remove some, let FLEET_FORGET_DAYS forget silent ones, or",
  ],
  versions: ["policy versions in the organization", "activate one of them, or"],
  users: ["users in the organization", "delete some, or"],
  keys: ["API keys in the organization that are not revoked", "revoke some, or"],
  organizations: ["organizations", "to create more,"],
} as const;

/**
 * Creates the quotas of a service.
 *
 * @param requireAuth whether the smaller quotas of the public surface apply; called only when these are exceeded
 */
export function createQuotas(limits: QuotaLimits, requireAuth: () => boolean): Quotas {
  const all: SetQuota[] = [];
  const entered = (quota: SetQuota): SetQuota => {
    all.push(quota);
    return quota;
  };
  const bytes = (setting: string, limit: number): SetQuota =>
    entered(
      quotaOf(
        setting,
        limit,
        () => new InsufficientStorage(`${setting}: ${auditFull(limit)}`, RETRY_SECONDS),
      ),
    );
  const count = (setting: string, limit: number, what: keyof typeof COUNTED): SetQuota => {
    const [things, way] = COUNTED[what];
    const message = `${setting}: expected at most ${limit} ${things}: ${way} raise the setting`;
    return entered(quotaOf(setting, limit, () => new TooMany(message, RETRY_SECONDS)));
  };
  const bySurface = (general: SetQuota, smaller: SetQuota): QuotaOf => {
    const onPublic = onPublicSurface(smaller, general, requireAuth);
    return (surface) => (surface === "public" ? onPublic : general);
  };
  return {
    auditBytes: bySurface(
      bytes("MAX_AUDIT_BYTES", limits.maxAuditBytes),
      bytes("PUBLIC_MAX_AUDIT_BYTES", limits.publicMaxAuditBytes),
    ),
    runtimes: bySurface(
      count("MAX_RUNTIMES", limits.maxRuntimes, "runtimes"),
      count("PUBLIC_MAX_RUNTIMES", limits.publicMaxRuntimes, "runtimes"),
    ),
    labels: bySurface(labelQuota(MOST_LABEL_LENGTH), labelQuota(PUBLIC_MOST_LABEL_LENGTH)),
    policyVersions: bySurface(
      count("MAX_POLICY_VERSIONS", limits.maxPolicyVersions, "versions"),
      count("PUBLIC_MAX_POLICY_VERSIONS", limits.publicMaxPolicyVersions, "versions"),
    ),
    users: count("MAX_USERS", limits.maxUsers, "users"),
    apiKeys: count("MAX_API_KEYS", limits.maxApiKeys, "keys"),
    organizations: count("MAX_ORGANIZATIONS", limits.maxOrganizations, "organizations"),
    all,
  };
}

/** Throws the refusal of a quota if there is a quota and it refuses. */
export function checkQuota(quota: Quota | undefined, used: number): void {
  const refusal = quota?.refusal(used);
  if (refusal !== undefined) throw refusal;
}

function labelQuota(limit: number): SetQuota {
  const message = `labels: the runtimes of the organization have ${limit} characters of labels and long texts: report fewer, or remove runtimes`;
  return quotaOf("labels", limit, () => new TooMany(message, LABELS_RETRY_SECONDS));
}

function quotaOf(setting: string, limit: number, refuse: () => Refusal): SetQuota {
  let refusals = 0;
  return {
    setting,
    limit,
    get refusals() {
      return refusals;
    },
    refusal(used) {
      if (used < limit) return undefined;
      refusals++;
      return refuse();
    },
  };
}

/** Compares once while there is room. The switch is read only when the smaller quota is exceeded. */
function onPublicSurface(smaller: SetQuota, general: SetQuota, requireAuth: () => boolean): Quota {
  const least = Math.min(smaller.limit, general.limit);
  return {
    refusal(used) {
      if (used < least) return undefined;
      return (requireAuth() ? smaller.refusal(used) : undefined) ?? general.refusal(used);
    },
  };
}
