import assert from "node:assert/strict";
import { test } from "node:test";
import { InsufficientStorage, TooMany } from "../../src/core/errors.ts";
import { checkQuota, createQuotas, type QuotaLimits } from "../../src/core/quota.ts";

const LIMITS: QuotaLimits = {
  maxAuditBytes: 1_000,
  maxRuntimes: 20,
  maxPolicyVersions: 30,
  maxUsers: 4,
  maxApiKeys: 5,
  maxOrganizations: 6,
  publicMaxAuditBytes: 100,
  publicMaxRuntimes: 2,
  publicMaxPolicyVersions: 300,
};

test("a record is accepted below the limit; at the limit the refusal names the setting and a way out", () => {
  const { users } = createQuotas(LIMITS, () => true);
  assert.equal(users.refusal(3), undefined);
  const refusal = users.refusal(4);
  assert.ok(refusal instanceof TooMany);
  assert.equal(
    refusal.message,
    "MAX_USERS: expected at most 4 users in the organization: delete some, or raise the setting",
  );
  assert.deepEqual(refusal.headers(), ["Retry-After", "3600"]);
  checkQuota(users, 3);
  checkQuota(undefined, 1_000_000);
  assert.throws(() => checkQuota(users, 4), TooMany);
});

test("bytes are refused as 507", () => {
  const refusal = createQuotas(LIMITS, () => true)
    .auditBytes("v1")
    .refusal(1_000);
  assert.ok(refusal instanceof InsufficientStorage);
  assert.match(refusal.message, /^MAX_AUDIT_BYTES: .* 1000 bytes.*AUDIT_RETENTION_DAYS/);
});

test("the public surface has its own quota only while authentication is on", () => {
  let requireAuth = true;
  const quotas = createQuotas(LIMITS, () => requireAuth);
  const told = (used: number) => quotas.runtimes("public").refusal(used)?.message.split(":")[0];
  assert.equal(told(1), undefined);
  assert.equal(told(2), "PUBLIC_MAX_RUNTIMES");
  assert.equal(quotas.runtimes("v1").refusal(2), undefined);
  requireAuth = false;
  assert.equal(told(2), undefined);
  assert.equal(told(19), undefined);
  assert.equal(told(20), "MAX_RUNTIMES");
});

test("the public surface never has more room than the organization", () => {
  const versions = createQuotas(LIMITS, () => true).policyVersions("public");
  assert.equal(versions.refusal(29), undefined);
  assert.match(versions.refusal(30)?.message ?? "", /^MAX_POLICY_VERSIONS/);
});

test("the switch is not read while there is room", () => {
  const quotas = createQuotas(LIMITS, () => assert.fail("It was read"));
  assert.equal(quotas.auditBytes("public").refusal(99), undefined);
  assert.equal(quotas.auditBytes("v1").refusal(999), undefined);
});

test("each setting counts what it refused", () => {
  const quotas = createQuotas(LIMITS, () => true);
  quotas.runtimes("public").refusal(2);
  quotas.runtimes("public").refusal(20);
  quotas.runtimes("v1").refusal(20);
  const counts = quotas.all.map(({ setting, refusals }) => [setting, refusals]);
  assert.deepEqual(Object.fromEntries(counts), {
    MAX_AUDIT_BYTES: 0,
    PUBLIC_MAX_AUDIT_BYTES: 0,
    MAX_RUNTIMES: 1,
    PUBLIC_MAX_RUNTIMES: 2,
    MAX_POLICY_VERSIONS: 0,
    PUBLIC_MAX_POLICY_VERSIONS: 0,
    MAX_USERS: 0,
    MAX_API_KEYS: 0,
    MAX_ORGANIZATIONS: 0,
  });
});
