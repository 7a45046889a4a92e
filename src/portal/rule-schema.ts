import { auditEvent } from "../audit/schema.ts";
import { dateTime, integer, list, object, string } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";
import { policyRule } from "../policies/schema.ts";

const ruleCommands = object({
  title: "RuleCommands",
  description:
    "The commands that a rule decides, out of the newest events with the decision of the rule. They are decided again by this version, whichever version decided them at their time.",
  optional: ["since"],
  properties: {
    looked_at: integer("The number of events that were decided again, 500 at most."),
    since: dateTime("The `timestamp` of the oldest of those events; absent without one."),
    times: list(
      "The `timestamp` of each event that the rule decides, newest first.",
      dateTime("The time of an event."),
    ),
    events: list(
      "The newest 50 of the events that the rule decides; long texts are cut.",
      auditEvent,
    ),
  },
});

/** The answer about the rules of a version. */
export const policyRules = object({
  title: "PolicyRules",
  description: "The rules of a policy version.",
  optional: ["commands"],
  properties: {
    version: string("The name of the version."),
    rules: list(
      "The rules in the order of the document; empty for a document of another schema.",
      policyRule,
    ),
    commands: ruleCommands,
  },
});
/** The rules of a policy version, and the commands of one of them. */
export type PolicyRules = Infer<typeof policyRules>;
