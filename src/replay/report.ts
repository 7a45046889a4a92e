/** The report of a replay. Browsers load its type, so it must not import stores. */
import { recordOf } from "../audit/event-fields.ts";
import { auditEvent } from "../audit/schema.ts";
import { dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";
import { policySimulation, type PolicyPublish } from "../policies/schema.ts";
import { REASONS } from "./reasons.ts";

/** The things a replay can compare: the decisions of both documents, by default, or their effects on commands. */
export const COMPARED = ["decisions", "effects"] as const;
export type Compared = (typeof COMPARED)[number];

/** The fields of an event that an example shows. */
export const EXAMPLE_FIELDS = [
  ...(["id", "timestamp"] as const),
  ...(["command", "provider", "capability", "consumer", "executor", "resource"] as const),
  ...(["runtime_name", "policy"] as const),
] as const;
const DECISIONS = policySimulation.properties.decision.enum;

const newlyDenied = integer("The events that were allowed and are now denied.");
const newlyAllowed = integer("The events that were denied and are now allowed.");

const nameCounts = (what: string) =>
  list(
    `The ${what} with the most changes, 10 at most.`,
    object({
      title: "PolicyReplayName",
      description: "A name, and the changes of its events.",
      properties: {
        name: string("The name."),
        newly_denied: newlyDenied,
        newly_allowed: newlyAllowed,
      },
    }),
  );

const { properties } = auditEvent;

/** The result of a replay. */
export const policyReplayReport = object({
  title: "PolicyReplayReport",
  description:
    "What a policy would have decided about recorded events, compared with another decision about each.",
  properties: {
    evaluated: integer("The events that were compared."),
    unchanged: integer("The events with equal decisions."),
    newly_denied: newlyDenied,
    newly_allowed: newlyAllowed,
    not_replayable: list(
      "The events that match and could not be compared, by reason; they are not in `evaluated`.",
      object({
        title: "PolicyReplayGap",
        description: "A reason, and the number of events.",
        properties: {
          reason: word(
            "`no_decision`: no decision was recorded. `…_missing` and `…_redacted`: the decision depends on a field that the event lacks, or from which a secret was removed.",
            REASONS,
          ),
          events: integer("The number of events."),
        },
      }),
    ),
    rules: list(
      "The rules of the policy in the order of the document, and last its default.",
      object({
        title: "PolicyReplayRule",
        description: "A rule, and the events that it decides.",
        properties: {
          id: {
            type: ["string", "null"],
            description: "The id of the rule; null for the default.",
          } as const,
          hits: integer("The events that the rule decides."),
          newly_denied: newlyDenied,
          newly_allowed: newlyAllowed,
        },
      }),
    ),
    top: object({
      description: "The names with the most changes.",
      properties: {
        executors: nameCounts("executors"),
        providers: nameCounts("providers"),
        runtimes: nameCounts("runtimes"),
      },
    }),
    examples: list(
      "Events whose decision changes, the newest of different commands: newly denied ones, then newly allowed ones.",
      object({
        title: "PolicyReplayExample",
        description: "An event whose decision changes.",
        properties: {
          event: {
            title: "PolicyReplayEvent",
            type: "object",
            description:
              "A part of the event. Texts of more than 1,000 characters are cut and end with an ellipsis.",
            required: ["id", "timestamp"],
            properties: recordOf(
              EXAMPLE_FIELDS.map((field) => [field, properties[field]] as const),
            ) as { readonly [F in (typeof EXAMPLE_FIELDS)[number]]: (typeof properties)[F] },
          } as const,
          was: word("The decision before.", DECISIONS),
          now: word("The decision of the policy.", DECISIONS),
          rule: policySimulation.properties.rule, // cut like the texts of the event
          reason: policySimulation.properties.reason,
        },
      }),
    ),
    from: dateTime("The start of the range of time."),
    to: dateTime("The end of the range of time, which is outside of it."),
  },
});
export type PolicyReplayReport = Infer<typeof policyReplayReport>;
/** The refusal of a version. */
export const policyConflict = object({
  title: "PolicyConflict",
  description: "The version exists, another version is active, or the guard refuses the change.",
  optional: ["replay"],
  properties: {
    error: string("The reason in a sentence."),
    replay: policyReplayReport,
  },
});

/** The first limit of a guard that a replay exceeds; `undefined` if it exceeds none. */
export function exceededLimit(
  counts: { readonly newly_denied: number; readonly newly_allowed: number },
  guard: NonNullable<PolicyPublish["guard"]>,
) {
  for (const word of ["denied", "allowed"] as const) {
    const [events, limit] = [counts[`newly_${word}`], guard[`max_newly_${word}`]];
    if (limit !== undefined && events > limit) return { word, events, limit };
  }
  return undefined;
}

/** A report without its range of time. */
export type ReplayCounts = Omit<PolicyReplayReport, "from" | "to">;
