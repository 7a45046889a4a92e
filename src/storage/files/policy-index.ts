/** The file that says which policy versions an organization has, and which of them is active. */
import type { Infer, Schema } from "../../core/schema.ts";
import { validate } from "../../core/validate.ts";
import { policy as policyReply, type Policy } from "../../policies/schema.ts";
import type { PolicyVersion } from "../../policies/store.ts";
import { policyFileName } from "../layout.ts";

const { yaml: _yaml, active: _active, ...stored } = policyReply.properties;

const indexSchema = {
  type: "object",
  required: ["versions"],
  properties: {
    active: { type: "string", description: "The active version; absent while there is none." },
    versions: {
      type: "array",
      description: "Every version, in the order of publishing.",
      items: {
        type: "object",
        required: [
          "organization_id",
          "name",
          "version",
          "updated_by",
          "updated_at",
          "file",
          "sha256",
          "bytes",
        ],
        properties: {
          ...stored,
          file: { type: "string", description: "The file with the text, beside the index." },
          sha256: { type: "string", description: "The text's SHA-256, in hexadecimal digits." },
          bytes: { type: "integer", minimum: 0, description: "The text's length in bytes." },
        },
      },
    },
  },
} as const satisfies Schema;
type PolicyIndex = Infer<typeof indexSchema>;

/** What is known of an organization's versions. Never changed, only replaced. */
export interface PolicyState {
  /** By version name, in the order of publishing. */
  readonly versions: ReadonlyMap<string, PolicyVersion>;
  readonly newestFirst: readonly PolicyVersion[];
  readonly active: Policy | undefined;
}

export const NO_POLICIES: PolicyState = { versions: new Map(), newestFirst: [], active: undefined };

/** What an index says; the active version's text is still to be read. */
export interface PolicyVersions {
  readonly versions: ReadonlyMap<string, PolicyVersion>;
  readonly active: PolicyVersion;
}

/**
 * Reads a parsed index; `undefined` when it names no version.
 *
 * @throws Error saying what is wrong with it
 */
export function readIndex(organization: string, parsed: unknown): PolicyVersions | undefined {
  const index = validate(indexSchema, parsed);
  const versions = new Map<string, PolicyVersion>();
  for (const { file, sha256, bytes, ...policy } of index.versions) {
    const { version, organization_id } = policy;
    if (organization_id !== organization) throw new Error(`"${version}" is another organization's`);
    if (file !== policyFileName(version)) throw new Error(`"${version}" has a wrong file name`);
    if (versions.has(version)) throw new Error(`"${version}" appears twice`);
    const active = version === index.active;
    versions.set(version, { policy: Object.freeze({ ...policy, active }), sha256, bytes });
  }
  if (versions.size === 0) return undefined;
  const active = versions.get(index.active ?? "");
  if (!active) throw new Error("no version is active");
  return { versions, active };
}

/** The index of a state, as it is written. */
export function indexOf({ versions, active }: PolicyState): PolicyIndex {
  return {
    active: active?.version,
    versions: [...versions.values()].map(({ policy, sha256, bytes }) => {
      const { active: _, ...rest } = policy;
      return { ...rest, file: policyFileName(policy.version), sha256, bytes };
    }),
  };
}

/** The state in which a version, new or known, is the active one. */
export function withActive(state: PolicyState, next: PolicyVersion, yaml: string): PolicyState {
  const versions = new Map(state.versions);
  const last = state.active && versions.get(state.active.version);
  if (last) {
    const policy = Object.freeze({ ...last.policy, active: false });
    versions.set(policy.version, { ...last, policy });
  }
  const active = { ...next, policy: Object.freeze({ ...next.policy, active: true }) };
  versions.set(active.policy.version, active);
  return stateOf({ versions, active }, yaml);
}

/** The state that an index describes, with the text of the active version. */
export function stateOf({ versions, active }: PolicyVersions, yaml: string): PolicyState {
  // Timestamps of one format sort as texts; the sort is stable, so ties keep the later publish first.
  const newestFirst = [...versions.values()]
    .reverse()
    .sort((a, b) => compare(b.policy.updated_at, a.policy.updated_at));
  return { versions, newestFirst, active: Object.freeze({ ...active.policy, yaml }) };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
