import { boolean, dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
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

const yaml = string(
  "The policy document: YAML 1.2, at most 1 MiB, which runtimes cache and evaluate.",
  { ruled: { minLength: 1, maxLength: 1 << 20 }, examples: [EXAMPLE] },
);

/** A policy version as it is answered. */
export const policy = object({
  title: "Policy",
  description: "One version of the policy. Its text never changes once it is stored.",
  optional: ["description", "activated_at", "activated_by"],
  properties: {
    organization_id: string("The organization the version belongs to."),
    name: string("What the policy is called."),
    version: string("The version's name, unique in its organization."),
    description: string("What this version is about."),
    yaml,
    active: boolean("Whether runtimes are given this version now."),
    updated_by: string("Who published the version."),
    updated_at: dateTime("When it was published."),
    activated_at: dateTime("When it was last made active again; absent while it never was."),
    activated_by: string("Who last made it active again."),
  },
});
export type Policy = Infer<typeof policy>;

export const policyList = object({
  title: "PolicyList",
  description: "Every policy version of an organization, newest first.",
  properties: {
    active: string("The name of the active version; empty while there is none."),
    policies: list("The versions, newest first.", policy),
  },
});

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
    policies: list("The versions, newest first.", policySummary),
  },
} as const satisfies Schema;

export const policyPublish = {
  title: "PolicyPublish",
  type: "object",
  description: "A new policy version.",
  required: ["yaml"],
  properties: {
    yaml,
    version: string(
      "The version's name: 1 to 128 characters without control characters, neither `.` nor `..`. Generated from the UTC time when absent.",
      { ruled: VERSION_NAME, examples: ["2026-11-20.1"] },
    ),
    name: string("What the policy is called.", { maxLength: 256, default: "enterprise-policy" }),
    description: string("What this version is about.", { maxLength: 4096 }),
    updated_by: string(
      "Who publishes it; the signed-in user's email, else `portal-api`, when absent.",
      { maxLength: 256 },
    ),
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

export const policyValidate = object({
  title: "PolicyValidate",
  description: "A policy document to be checked without being stored.",
  properties: { yaml },
});

const policyProblem = object({
  title: "PolicyProblem",
  description: "One thing that is wrong with a policy document.",
  properties: {
    message: string("What is wrong, and where the document allows it."),
    line: integer("The line, counted from 1.", { minimum: 1 }),
    column: integer("The column in it, counted from 1.", { minimum: 1 }),
  },
});
export type PolicyProblem = Infer<typeof policyProblem>;

export const policyValidation = object({
  title: "PolicyValidation",
  description: "What a check found.",
  properties: {
    valid: boolean("Whether the document could be published."),
    problems: list("What is wrong, in the order of the text; 100 at most.", policyProblem),
  },
});

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
    version: string("A stored version to decide by."),
    command: string("The full command text.", { maxLength: FIELD_LENGTH }),
    provider: string("The program or service used; the command's first word when absent.", {
      maxLength: FIELD_LENGTH,
    }),
    capability: string("The capability used, `<provider>/<name>`.", { maxLength: FIELD_LENGTH }),
    consumer: word("What kind of caller runs it.", consumers),
    executor: string("Who runs it.", { maxLength: FIELD_LENGTH }),
    resource: string("What it acts on.", { maxLength: FIELD_LENGTH }),
  },
} as const satisfies Schema;

export const policySimulation = object({
  title: "PolicySimulation",
  description: "How a policy decides a command.",
  properties: {
    decision: word("What the policy decides.", decisions),
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
});
