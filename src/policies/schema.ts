import type { Infer, Schema } from "../core/schema.ts";

const decisions = ["ALLOWED", "DENIED"] as const;
const consumers = ["human", "ai", "ci"] as const;

export type Decision = (typeof decisions)[number];
export { consumers };

const EXAMPLE = `schema: signalbox/policy/v1
default: deny
rules:
  - id: read-only
    effect: allow
    match: { commands: [{ prefix: kubectl get }] }
`;

/** The names of policy versions: no control characters, and nothing that a path cannot contain. */
export const VERSION_NAME = {
  pattern: "^(?!\\.{1,2}$)[^\\p{Cc}\\p{Cs}\\u2028\\u2029]+$",
  minLength: 1,
  maxLength: 128,
} as const;

const yaml = {
  type: "string",
  ruled: { minLength: 1, maxLength: 1 << 20 },
  description: "The policy document: YAML 1.2, at most 1 MiB, which runtimes cache and evaluate.",
  examples: [EXAMPLE],
} as const satisfies Schema;

/** A policy version as it is answered. */
export const policy = {
  title: "Policy",
  type: "object",
  description: "One version of the policy. Its text never changes once it is stored.",
  required: ["organization_id", "name", "version", "yaml", "active", "updated_by", "updated_at"],
  properties: {
    organization_id: { type: "string", description: "The organization the version belongs to." },
    name: { type: "string", description: "What the policy is called." },
    version: { type: "string", description: "The version's name, unique in its organization." },
    description: { type: "string", description: "What this version is about." },
    yaml,
    active: { type: "boolean", description: "Whether runtimes are given this version now." },
    updated_by: { type: "string", description: "Who published the version." },
    updated_at: { type: "string", format: "date-time", description: "When it was published." },
    activated_at: {
      type: "string",
      format: "date-time",
      description: "When it was last made active again; absent while it never was.",
    },
    activated_by: { type: "string", description: "Who last made it active again." },
  },
} as const satisfies Schema;
export type Policy = Infer<typeof policy>;

export const policyList = {
  title: "PolicyList",
  type: "object",
  description: "Every policy version of an organization, newest first.",
  required: ["active", "policies"],
  properties: {
    active: {
      type: "string",
      description: "The name of the active version; empty while there is none.",
    },
    policies: { type: "array", items: policy, description: "The versions, newest first." },
  },
} as const satisfies Schema;

const { yaml: _, ...summaryProperties } = policy.properties;

/** A policy version without its text. */
export const policySummary = {
  title: "PolicySummary",
  type: "object",
  description: "One version of the policy, without its text.",
  required: ["organization_id", "name", "version", "active", "updated_by", "updated_at"],
  properties: summaryProperties,
} as const satisfies Schema;
export type PolicySummary = Infer<typeof policySummary>;

export const policySummaryList = {
  ...policyList,
  title: "PolicySummaryList",
  description: "Every policy version of an organization without its text, newest first.",
  properties: {
    ...policyList.properties,
    policies: { type: "array", items: policySummary, description: "The versions, newest first." },
  },
} as const satisfies Schema;

export const policyPublish = {
  title: "PolicyPublish",
  type: "object",
  description: "A new policy version.",
  required: ["yaml"],
  properties: {
    yaml,
    version: {
      type: "string",
      ruled: VERSION_NAME,
      description:
        "The version's name: 1 to 128 characters without control characters, neither `.` nor `..`. Generated from the UTC time when absent.",
      examples: ["2026-11-20.1"],
    },
    name: {
      type: "string",
      maxLength: 256,
      default: "enterprise-policy",
      description: "What the policy is called.",
    },
    description: { type: "string", maxLength: 4096, description: "What this version is about." },
    updated_by: {
      type: "string",
      maxLength: 256,
      description: "Who publishes it; the signed-in user's email, else `portal-api`, when absent.",
    },
  },
} as const satisfies Schema;
export type PolicyPublish = Infer<typeof policyPublish>;

/** Activation needs no fields: the path says everything. The body exists to require JSON. */
export const policyActivate = {
  title: "PolicyActivate",
  type: "object",
  description: "An empty object: the path names the version.",
  properties: {},
} as const satisfies Schema;

export const policyValidate = {
  title: "PolicyValidate",
  type: "object",
  description: "A policy document to be checked without being stored.",
  required: ["yaml"],
  properties: { yaml },
} as const satisfies Schema;

const policyProblem = {
  title: "PolicyProblem",
  type: "object",
  description: "One thing that is wrong with a policy document.",
  required: ["message", "line", "column"],
  properties: {
    message: { type: "string", description: "What is wrong, and where the document allows it." },
    line: { type: "integer", minimum: 1, description: "The line, counted from 1." },
    column: { type: "integer", minimum: 1, description: "The column in it, counted from 1." },
  },
} as const satisfies Schema;
export type PolicyProblem = Infer<typeof policyProblem>;

export const policyValidation = {
  title: "PolicyValidation",
  type: "object",
  description: "What a check found.",
  required: ["valid", "problems"],
  properties: {
    valid: { type: "boolean", description: "Whether the document could be published." },
    problems: {
      type: "array",
      items: policyProblem,
      description: "What is wrong, in the order of the text; 100 at most.",
    },
  },
} as const satisfies Schema;

const FIELD_LENGTH = 65_536;

export const policySimulate = {
  title: "PolicySimulate",
  type: "object",
  description:
    "A command to be decided. `yaml` or `version` names the policy; without either it is the active one.",
  required: ["command"],
  examples: [
    { command: "kubectl get pods", consumer: "ai" },
    { command: "kubectl get pods", yaml: EXAMPLE },
  ],
  properties: {
    yaml: { ...yaml, description: "A document to decide by; not to be given with `version`." },
    version: { type: "string", description: "A stored version to decide by." },
    command: { type: "string", maxLength: FIELD_LENGTH, description: "The full command text." },
    provider: {
      type: "string",
      maxLength: FIELD_LENGTH,
      description: "The program or service used; the command's first word when absent.",
    },
    capability: {
      type: "string",
      maxLength: FIELD_LENGTH,
      description: "The capability used, `<provider>/<name>`.",
    },
    consumer: { type: "string", enum: consumers, description: "What kind of caller runs it." },
    executor: { type: "string", maxLength: FIELD_LENGTH, description: "Who runs it." },
    resource: { type: "string", maxLength: FIELD_LENGTH, description: "What it acts on." },
  },
} as const satisfies Schema;

export const policySimulation = {
  title: "PolicySimulation",
  type: "object",
  description: "How a policy decides a command.",
  required: ["decision", "rule", "reason", "version"],
  properties: {
    decision: { type: "string", enum: decisions, description: "What the policy decides." },
    rule: {
      type: ["string", "null"],
      description: "The id of the rule that decided; null when the document's default did.",
    },
    reason: { type: ["string", "null"], description: "The reason which that rule gives, if any." },
    version: {
      type: ["string", "null"],
      description: "The version that decided; null for a document given as `yaml`.",
    },
  },
} as const satisfies Schema;
