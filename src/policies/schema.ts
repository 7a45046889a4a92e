import { consumers, decisions } from "../core/decision.ts";
import { withAll, withNone } from "../core/object-forms.ts";
import { boolean, dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";

/** The decisions of a rule on the commands that it matches. */
export const effects = ["allow", "deny"] as const;
export type Effect = (typeof effects)[number];

/** Whether runtimes stop what a document denies, or let it run and report it. */
export const modes = ["enforce", "observe"] as const;
export type Mode = (typeof modes)[number];

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
  "The policy document: YAML 1.2 of at most 1 MiB. Runtimes cache and evaluate it.",
  { ruled: { minLength: 1, maxLength: 1 << 20 }, examples: [EXAMPLE] },
);

/** A policy version as it is answered. */
export const policy = object({
  title: "Policy",
  description: "A version of the policy. A stored version never changes its text.",
  optional: ["description", "activated_at", "activated_by"],
  properties: {
    organization_id: string("The organization that owns the version."),
    name: string("The policy's name."),
    version: string("The version's name, unique within the organization."),
    description: string("A description of the version."),
    yaml,
    active: boolean("Whether this is the active version, which runtimes fetch."),
    updated_by: string("The user or program that published the version."),
    updated_at: dateTime("The time of the publish."),
    activated_at: dateTime(
      "The time at which the stored version was last activated; absent if it never was.",
    ),
    activated_by: string("The user or program that last activated the stored version."),
  },
});
export type Policy = Infer<typeof policy>;

export const policyList = object({
  title: "PolicyList",
  description: "The policy versions of the organization, newest first.",
  properties: {
    active: string("The name of the active version; empty without one."),
    policies: list("The versions, newest first.", policy),
  },
});

const { yaml: _, ...summaryProperties } = policy.properties;

/** A policy version without its text. */
const policySummary = {
  title: "PolicySummary",
  type: "object",
  description: "A version of the policy without its text.",
  required: ["organization_id", "name", "version", "active", "updated_by", "updated_at"],
  properties: summaryProperties,
} as const satisfies Schema;
export type PolicySummary = Infer<typeof policySummary>;

export const policySummaryList = {
  ...policyList,
  title: "PolicySummaryList",
  description: "The policy versions of the organization without their texts, newest first.",
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
      "The version's name: 1 to 128 characters without control characters, and not `.` or `..`. The default is the UTC time.",
      { ruled: VERSION_NAME, examples: ["2026-11-20.1"] },
    ),
    name: string("The policy's name.", { maxLength: 256, default: "enterprise-policy" }),
    description: string("A description of the version.", { maxLength: 4096 }),
    base_version: string(
      "The version that must be active now; empty if no version may be active. Otherwise the answer is 409. If absent, the new version replaces any version.",
      { maxLength: VERSION_NAME.maxLength, examples: ["2026-11-20.1"], strict: true },
    ),
    guard: {
      title: "PolicyGuard",
      type: "object",
      description:
        "Limits on what the version may change, at least one: it is replayed over recent events, compared with the active version. Beyond a limit the answer is 409, and nothing is stored.",
      ruled: { not: withNone("max_newly_denied", "max_newly_allowed") },
      strict: true,
      properties: {
        max_newly_denied: integer("The most events that may be newly denied.", { minimum: 0 }),
        max_newly_allowed: integer("The most events that may be newly allowed.", { minimum: 0 }),
        window_hours: integer("How far back the replay goes, in hours.", {
          ...{ minimum: 1, maximum: 8_760, default: 168 },
        }),
      },
    },
    activate: boolean("Whether the version becomes the active one. `false` only stores it.", {
      ...{ default: true, strict: true },
    }),
    updated_by: string(
      "The publisher's name. The default is the user's email, or `portal-api` without a user.",
      { maxLength: 256 },
    ),
  },
} as const satisfies Schema;
export type PolicyPublish = Infer<typeof policyPublish>;

/** The body of an activation has no fields. It exists so that the request must be JSON. */
export const policyActivate = {
  title: "PolicyActivate",
  type: "object",
  description: "An empty object. The path names the version.",
  properties: {},
} as const satisfies Schema;

export const policyValidate = object({
  title: "PolicyValidate",
  description: "A policy document to check. It is not stored.",
  properties: { yaml },
});

const policyProblem = object({
  title: "PolicyProblem",
  description: "A problem in a policy document.",
  properties: {
    message: string("The problem, and the accepted values if there are any."),
    line: integer("The line, counted from 1.", { minimum: 1 }),
    column: integer("The column in the line, counted from 1.", { minimum: 1 }),
  },
});
export type PolicyProblem = Infer<typeof policyProblem>;

export const policyValidation = object({
  title: "PolicyValidation",
  description: "The result of a check.",
  properties: {
    valid: boolean("Whether the document could be published."),
    problems: list("The problems in the order of the text, 100 at most.", policyProblem),
  },
});

const FIELD = { maxLength: 65_536 } as const;

export const policySimulate = {
  title: "PolicySimulate",
  type: "object",
  description:
    "A command to decide, or a tool that runs none, by `yaml`, by `version` or by default by the active policy.",
  examples: [
    { command: "kubectl get pods", consumer: "ai" },
    { command: "kubectl get pods", yaml: EXAMPLE },
    { provider: "mcp/github", capability: "mcp/github/create_issue", consumer: "ai" },
  ],
  properties: {
    yaml: { ...yaml, description: "A policy document. Not together with `version`." },
    version: string("The name of a stored version."),
    command: string(
      "The full command text. Leave it out for a tool that runs none, which its `capability` names.",
      FIELD,
    ),
    provider: string(
      "The program or service that the command uses. The default is the command's first word.",
      FIELD,
    ),
    capability: string("The capability that the command uses, `<provider>/<name>`.", FIELD),
    consumer: word("The kind of caller.", consumers),
    executor: string("The name of the caller.", FIELD),
    resource: string("The resource that the command acts on.", FIELD),
  },
  ruled: { not: { anyOf: [withAll("yaml", "version"), withNone("command", "capability")] } },
} as const satisfies Schema;

export const policySimulation = object({
  title: "PolicySimulation",
  description: "The decision of a policy about a command.",
  optional: ["doubt", "program", "line"],
  properties: {
    decision: word("The decision.", decisions),
    mode: word("The document's mode: with `observe` a denied command runs all the same.", modes),
    rule: {
      type: ["string", "null"],
      description: "The id of the rule that decided; null for the document's default.",
    },
    reason: { type: ["string", "null"], description: "The reason of that rule; null without one." },
    doubt: string(
      "The reason why a shell text cannot be split, so that no allow rule applies; absent if it was split.",
    ),
    program: string(
      "The program of the first command of a shell text that no rule allows; absent if the text is one command, or is not denied by the default.",
    ),
    line: integer("The line of that rule in the document, counted from 1; absent without a rule.", {
      minimum: 1,
    }),
    version: {
      type: ["string", "null"],
      description: "The version that decided; null for a `yaml` in the request.",
    },
  },
});

/** A rule of a version, as the rules of a version list it. */
export const policyRule = object({
  title: "PolicyRule",
  description: "A rule of a policy version, without its condition.",
  optional: ["description", "reason"],
  properties: {
    id: string("The id of the rule."),
    effect: word("The decision of the rule.", effects),
    description: string("The description of the rule."),
    reason: string("The reason that the rule gives."),
    enabled: boolean("`false` for a rule that is switched off."),
    line: integer("The first line of the rule in the document, counted from 1.", { minimum: 1 }),
    end_line: integer("The last line of the rule in the document.", { minimum: 1 }),
  },
});
export type PolicyRule = Infer<typeof policyRule>;

/** The effect of drafted rules; with `test` only tests are drafted. */
export type DraftEffect = Effect | "test";

/** The most events of one draft. */
const MOST_DRAFT_EVENTS = 50;

export const ruleDraftRequest = {
  ...object({
    title: "RuleDraftRequest",
    description: "Audit events, and the effect of the new rules. Give `event` or `events`.",
    optional: ["event", "events", "yaml"],
    properties: {
      event: string("The id of an audit event."),
      events: {
        ...list("The ids of audit events.", string("The id of an audit event.")),
        ...{ minItems: 1, maxItems: MOST_DRAFT_EVENTS },
      },
      effect: word(
        "The effect of the rules. `test` adds no rule, only a test of each command as the document decides it.",
        [...effects, "test"] as const,
      ),
      yaml: { ...yaml, description: "The document to extend. The default is the active policy." },
    },
  }),
  ruled: { not: { anyOf: [withAll("event", "events"), withNone("event", "events")] } },
  examples: [{ event: "01m81jf1ew0001pcmmak1ve7xq", effect: "deny" }],
} as const;

const ruleDraftChange = object({
  title: "RuleDraftChange",
  description: "A change that a draft makes for an event.",
  properties: {
    event: string("The id of the event."),
    change: word(
      "A new rule; an exception in a rule that denies the command; or only a test, since the document already decides the command as wanted.",
      ["rule", "exception", "none"],
    ),
    rule: {
      type: ["string", "null"],
      description: "The id of the new rule, or of the rule that decides; null for the default.",
    },
    line: integer("The line of the change in the draft, counted from 1.", { minimum: 1 }),
    message: string("The change in words."),
  },
});
export type RuleDraftChange = Infer<typeof ruleDraftChange>;

export const ruleDraft = object({
  title: "RuleDraft",
  description: "A draft of a policy document. It is not stored.",
  properties: {
    yaml: string("The document with the new rules and a test for each event."),
    base_version: string(
      "The active version when the draft was made; empty without one. Publishing takes it as `base_version`.",
    ),
    changes: list("The changes, in the order of the events.", ruleDraftChange),
  },
});
export type RuleDraft = Infer<typeof ruleDraft>;
