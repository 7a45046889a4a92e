import { createHash } from "node:crypto";
import { join } from "node:path";

const ORGANIZATION_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** A guide for users in the root of a data directory; a clone of the repository has one in `data`. */
export const GUIDE = "README.md";

/** The paths of one organization's files. */
export interface OrganizationLayout {
  readonly directory: string;
  readonly organization: string;
  readonly users: string;
  readonly settings: string;
  readonly providers: string;
  readonly rollouts: string;
  readonly apiKeys: string;
  readonly policies: string;
  readonly policyIndex: string;
  readonly fleetSnapshot: string;
  readonly fleetLog: string;
  readonly audit: string;
  readonly activityLog: string;
  /** Hashes and checkpoints of the tree over the audit events. */
  readonly auditProof: string;
  /** The same of the tree over the activity log. */
  readonly activityProof: string;
}

/** The paths of a data directory. The only place where an id becomes part of a path. */
export class Layout {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  get lock(): string {
    return join(this.root, "lock");
  }

  /** The socket on which the owner of a lock listens while it lives. */
  lockSocket(token: string): string {
    return `${this.lock}.${token}.socket`;
  }

  get secret(): string {
    return join(this.root, "secret");
  }

  /** The private key that signs checkpoints. */
  get logKey(): string {
    return join(this.root, "log-key");
  }

  /** The socket on which a running server takes commands. */
  get socket(): string {
    return join(this.root, "socket");
  }

  /** Whether a path in the root has the name of a socket that a server makes. */
  isSocketName(path: string): boolean {
    return path === this.socket || (path.startsWith(`${this.lock}.`) && path.endsWith(".socket"));
  }

  get format(): string {
    return join(this.root, "format.json");
  }

  /** The marker of a demo's directory: the demo made everything below, and may remove it. */
  get demoMarker(): string {
    return join(this.root, "demo.json");
  }

  /** The mark of an unfinished move into the directory. */
  get unfinishedMove(): string {
    return join(this.root, "move.json");
  }

  get organizations(): string {
    return join(this.root, "organizations");
  }

  /** The last good copy of a catalog that was fetched from a URL. */
  get catalogCopy(): string {
    return join(this.root, "catalog.json");
  }

  /**
   * The files of an organization.
   *
   * @throws Error for an invalid organization id, so that no id ever leads out of the directory
   */
  organization(id: string): OrganizationLayout {
    if (!isOrganizationId(id)) throw new Error("Not an organization id");
    const directory = join(this.organizations, id);
    return {
      directory,
      organization: join(directory, "organization.json"),
      users: join(directory, "users.json"),
      settings: join(directory, "settings.json"),
      providers: join(directory, "providers.json"),
      rollouts: join(directory, "rollouts.json"),
      apiKeys: join(directory, "api-keys.json"),
      policies: join(directory, "policies"),
      policyIndex: join(directory, "policies", "index.json"),
      fleetSnapshot: join(directory, "fleet.json"),
      fleetLog: join(directory, "fleet.jsonl"),
      audit: join(directory, "audit"),
      activityLog: join(directory, "activity.jsonl"),
      auditProof: join(directory, "audit-proof"),
      activityProof: join(directory, "activity-proof"),
    };
  }
}

/** The directories of an organization, and of its parts. */
export function directoriesOf(layout: Layout, id: string): readonly string[] {
  const { directory, policies, audit, auditProof, activityProof } = layout.organization(id);
  return [directory, policies, audit, auditProof, activityProof];
}

/** Whether a text has the shape of an organization's id; such a text is safe as a file name. */
export function isOrganizationId(id: string): boolean {
  return ORGANIZATION_ID.test(id);
}

/**
 * The file name of a policy version: a readable part, and a hash of the whole name. So the length, letter case,
 * slashes and dots of a version do not matter to the file system.
 */
export function policyFileName(version: string): string {
  const readable = version
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, 40);
  const hash = createHash("sha256").update(version, "utf8").digest("hex").slice(0, 32);
  return `${readable === "" ? "version" : readable}-${hash}.yaml`;
}

/** The name of the record file of a version, beside its text. */
export function policyRecordName(version: string): string {
  return policyFileName(version).replace(/yaml$/, "json");
}
