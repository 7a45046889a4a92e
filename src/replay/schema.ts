import { filterBody } from "../audit/filter.ts";
import { withAll } from "../core/object-forms.ts";
import { dateTime, integer, string, word } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";
import { policyPublish, policySimulate } from "../policies/schema.ts";
import { COMPARED } from "./report.ts";

/** The number of examples by default, and the most. */
export const EXAMPLES = { default: 20, most: 200 } as const;

/** The value of `base` that asks for the recorded decisions. */
export const RECORDED = "recorded";

export const policyReplay = {
  title: "PolicyReplay",
  type: "object",
  description:
    "A policy to decide recorded events by, and the filters of the audit. `yaml` or `version` replaces the active policy.",
  examples: [
    { yaml: policySimulate.properties.yaml.examples[0], consumer: "ai" },
    { version: "2026-11-20.1", base: RECORDED, from: "2026-11-19T00:00:00Z" },
  ],
  properties: {
    yaml: policySimulate.properties.yaml,
    version: policySimulate.properties.version,
    base: string(
      "What the decisions are compared with: the name of a stored version, which decides the same events, or `recorded` for the recorded decisions. The default is the active version, or `recorded` without one.",
      { maxLength: policyPublish.properties.version.ruled.maxLength },
    ),
    compare: word(
      "`decisions`, the default, or `effects`: a document with `mode: observe` stops no command, so it counts as allowing every one.",
      COMPARED,
    ),
    examples: integer("The most examples in the answer.", {
      minimum: 0,
      maximum: EXAMPLES.most,
      default: EXAMPLES.default,
    }),
    ...filterBody,
    from: dateTime(
      "Only events with a `timestamp` at or after this time. The default is 7 days before `to`.",
    ),
    to: dateTime("Only events with a `timestamp` before this time. The default is now."),
  },
  ruled: { not: withAll("yaml", "version") },
} as const satisfies Schema;
export type PolicyReplay = Infer<typeof policyReplay>;
