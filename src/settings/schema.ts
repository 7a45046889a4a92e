import { dateTime, integer, list, object, string } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";

export const MAX_SETTINGS = 1_000;

const pair = {
  key: string("The setting's name, 1 to 128 characters, unique within the organization.", {
    maxLength: 128,
    examples: ["theme"],
  }),
  value: string("Its value; may be the empty text.", { maxLength: 64 * 1024, examples: ["dark"] }),
} as const satisfies Readonly<Record<string, Schema>>;

/** A setting as it is stored and answered. */
export const setting = {
  type: "object",
  description: "A key and its value.",
  required: ["key", "value"],
  properties: pair,
} as const satisfies Schema;
export type Setting = Infer<typeof setting>;

/** A setting in a request: without a value it has the empty text. */
export const givenSetting = {
  type: "object",
  description: "A key and its value.",
  required: ["key"],
  properties: { ...pair, value: { ...pair.value, default: "" } },
} as const satisfies Schema;

export const settings = object({
  title: "Settings",
  description: "What the deployment does, and the key-value pairs that the organization keeps.",
  properties: {
    edition: string("The deployment's edition."),
    organization_id: string("The organization the pairs belong to."),
    auth: {
      type: "object",
      additionalProperties: true,
      description: "How requests are authenticated now, read from the live configuration.",
    },
    settings: list("The pairs, in the order they were given.", setting),
    audit: object({
      description: "What the organization's audit events take up.",
      optional: ["oldest"],
      properties: {
        events: integer("How many events are stored."),
        bytes: integer("How many bytes their log takes."),
        oldest: dateTime("The oldest event's `timestamp`; absent when there is none."),
      },
    }),
  },
});
export type Settings = Infer<typeof settings>;

export const settingsUpdate = object({
  title: "SettingsUpdate",
  description: "All pairs of the organization; those that were there before are replaced.",
  properties: {
    settings: {
      type: "array",
      items: givenSetting,
      maxItems: MAX_SETTINGS,
      examples: [[{ key: "theme", value: "dark" }, { key: "language" }]],
      description: "The pairs, at most 1,000 and 1,048,576 characters together; each key once.",
    },
  },
});
