import { createHash } from "node:crypto";
import { checkQuota } from "../../core/quota.ts";
import { freeVersion, publishedPolicy, requireBase } from "../../policies/draft.ts";
import type { Policy } from "../../policies/schema.ts";
import type { PolicyStore } from "../../policies/store.ts";
import { CoalescedReads } from "./coalesced.ts";
import { numberFrom, type Statements } from "./database.ts";
import type { Head, KnownPolicies, PolicyReader } from "./known-policies.ts";
import type { Session } from "./session.ts";
import { fromText, toText } from "./text.ts";

/** A version in the tables. */
interface Row {
  readonly version: string;
  readonly name: string;
  readonly description: string | null;
  readonly updated_by: string;
  readonly updated_at: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly yaml?: string;
  readonly active: boolean;
  readonly activated_at: string | null;
  readonly activated_by: string | null;
}

const COLUMNS = `v.version, v.name, v.description, v.updated_by, v.updated_at, v.sha256, v.bytes,
  v.version = o.active_version AS active, v.activated_at, v.activated_by`;
const FROM = "FROM policy_versions v JOIN organizations o ON o.id = v.organization_id";

/**
 * Keeps policy versions in the table `policy_versions`; the organization's row names the active one. So
 * exactly one is active, and both change in one transaction.
 */
export function policiesOver(session: Session, known: KnownPolicies): PolicyStore {
  const heads = new CoalescedReads(async (organizations) => {
    const found = await session.query<Head>(
      `SELECT id AS organization, active_version AS version, activated_at,
              activated_by IS NULL AS by_publish
         FROM organizations WHERE id = ANY($1)`,
      [organizations],
      "policy-heads",
    );
    return new Map(found.map((head) => [head.organization, head]));
  });
  const reader: PolicyReader = {
    bytes: ({ organization, version }) =>
      numberFrom(
        session,
        "SELECT bytes AS n FROM policy_versions WHERE organization_id = $1 AND version = $2",
        [organization, version],
      ),
    read: (organization) => readPolicy(session, organization),
  };
  return {
    publish: (organization, draft, quota, seen) =>
      session.change(async (transaction) => {
        const active = await lockActive(transaction, organization);
        seen?.(active);
        requireBase(draft, active);
        const last = "SELECT max(number) AS n FROM policy_versions WHERE organization_id = $1";
        const versions = await numberFrom(transaction, last, [organization]); // none is ever removed
        const taken = await takenNames(transaction, organization, draft.version);
        const version = freeVersion(draft, (name) => taken.has(name));
        checkQuota(quota, versions);
        const bytes = Buffer.from(draft.yaml, "utf8");
        const policy = publishedPolicy(organization, version, draft);
        await transaction.run(
          `INSERT INTO policy_versions (organization_id, version, number, name, description,
                                        updated_by, updated_at, yaml, sha256, bytes)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
          [
            ...[organization, toText(version), versions + 1, toText(policy.name)],
            policy.description === undefined ? null : toText(policy.description),
            ...[toText(policy.updated_by), policy.updated_at, toText(draft.yaml)],
            ...[createHash("sha256").update(bytes).digest("hex"), bytes.length],
          ],
        );
        const at = policy.updated_at;
        if (draft.activates) await setActive(transaction, organization, version, at, null);
        return Object.freeze({ ...policy, yaml: draft.yaml });
      }),

    activate: (organization, version, at, by, seen) =>
      session.change(async (transaction) => {
        seen?.(await lockActive(transaction, organization));
        const found = await readPolicy(transaction, organization, version);
        if (!found || found.active) return found;
        await transaction.run(
          `UPDATE policy_versions SET activated_at = $3, activated_by = $4
            WHERE organization_id = $1 AND version = $2`,
          [organization, toText(version), at, toText(by)],
        );
        await setActive(transaction, organization, version, at, by);
        return readPolicy(transaction, organization, version);
      }),

    async active(organization) {
      const head = await heads.get(organization);
      if (head === undefined || head.version === "") return undefined;
      const policy = known.get(head);
      // A unit of work sees its own changes, and holds a connection.
      return policy ?? (session.isUnit ? reader.read(organization) : known.load(head, reader));
    },

    async activeVersion(organization) {
      return fromText((await heads.get(organization))?.version ?? "");
    },

    get: (organization, version) => readPolicy(session, organization, version),

    async texts(organization, versions) {
      const names = versions.map(({ policy }) => policy.version);
      const rows = await session.query<{ version: string; yaml: string }>(
        `SELECT version, yaml FROM policy_versions
          WHERE organization_id = $1 AND version = ANY($2)`,
        [organization, names.map(toText)],
      );
      const texts = new Map(rows.map(({ version, yaml }) => [fromText(version), fromText(yaml)]));
      return names.map((name) => texts.get(name) ?? "");
    },

    async versions(organization) {
      const rows = await session.query<Row>(
        `SELECT ${COLUMNS} ${FROM} WHERE v.organization_id = $1
          ORDER BY v.updated_at COLLATE "C" DESC, v.number DESC`,
        [organization],
      );
      return rows.map((row) => ({
        policy: policyOf(organization, row),
        sha256: row.sha256,
        bytes: row.bytes,
      }));
    },
  };
}

/** Locks the organization's row until the end of the transaction, and returns the active version. */
async function lockActive(transaction: Statements, organization: string): Promise<string> {
  const [head] = await transaction.query<{ version: string }>(
    "SELECT active_version AS version FROM organizations WHERE id = $1 FOR UPDATE",
    [organization],
  );
  return fromText(head?.version ?? "");
}

async function setActive(
  transaction: Statements,
  organization: string,
  version: string,
  at: string,
  by: string | null,
): Promise<void> {
  await transaction.run(
    `UPDATE organizations SET active_version = $2, activated_at = $3, activated_by = $4
      WHERE id = $1`,
    [organization, toText(version), at, by === null ? null : toText(by)],
  );
}

/** The taken names of versions that a draft's name could collide with. */
async function takenNames(
  transaction: Statements,
  organization: string,
  version: string,
): Promise<ReadonlySet<string>> {
  const rows = await transaction.query<{ version: string }>(
    `SELECT version FROM policy_versions
      WHERE organization_id = $1 AND (version = $2 OR left(version, length($3)) = $3)`,
    [organization, toText(version), toText(`${version}-`)],
  );
  return new Set(rows.map((row) => fromText(row.version)));
}

/** Reads a version with its text; the active one if none is named. */
async function readPolicy(
  statements: Pick<Statements, "query">,
  organization: string,
  version?: string,
): Promise<Policy | undefined> {
  const [row] = await statements.query<Row>(
    `SELECT ${COLUMNS}, v.yaml ${FROM}
      WHERE v.organization_id = $1 AND v.version = coalesce($2, o.active_version)`,
    [organization, version === undefined ? null : toText(version)],
  );
  return row && Object.freeze({ ...policyOf(organization, row), yaml: fromText(row.yaml ?? "") });
}

/** The members are in the same order as in the other engines, since the entity tag depends on it. */
function policyOf(organization: string, row: Row): Omit<Policy, "yaml"> {
  const { description, active, activated_at, activated_by } = row;
  return Object.freeze({
    organization_id: organization,
    name: fromText(row.name),
    version: fromText(row.version),
    ...(description !== null && { description: fromText(description) }),
    updated_by: fromText(row.updated_by),
    updated_at: row.updated_at,
    ...(activated_at !== null &&
      activated_by !== null && { activated_at, activated_by: fromText(activated_by) }),
    active,
  });
}
