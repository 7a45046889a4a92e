import { dateTime, integer, list, object, string } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";

export const MAX_SETTINGS = 1_000;

const pair = {
  key: string("The setting's name, 1 to 128 characters, unique within the organization.", {
    maxLength: 128,
    examples: ["theme"],
  }),
  value: string("The value, which may be empty.", { maxLength: 64 * 1024, examples: ["dark"] }),
} as const satisfies Readonly<Record<string, Schema>>;

/** A setting as it is stored and answered. */
const setting = {
  type: "object",
  description: "A setting.",
  required: ["key", "value"],
  properties: pair,
} as const satisfies Schema;
export type Setting = Infer<typeof setting>;

/** A setting in a request. The default of its value is the empty text. */
const givenSetting = {
  type: "object",
  description: "A setting.",
  required: ["key"],
  properties: { ...pair, value: { ...pair.value, default: "" } },
} as const satisfies Schema;

export const settings = object({
  title: "Settings",
  description: "The settings of the organization, and facts about the deployment.",
  properties: {
    edition: string("The edition of the deployment."),
    organization_id: string("The organization of the settings."),
    auth: {
      type: "object",
      additionalProperties: true,
      description: "The current authentication settings of the deployment.",
    },
    settings: list("The settings in the order in which they were written.", setting),
    audit: object({
      description: "The size of the organization's audit log.",
      optional: ["oldest"],
      properties: {
        events: integer("The number of stored events."),
        bytes: integer("The number of bytes in the log."),
        oldest: dateTime("The `timestamp` of the oldest event; absent without events."),
      },
    }),
  },
});
export type Settings = Infer<typeof settings>;

export const settingsUpdate = object({
  title: "SettingsUpdate",
  description: "The settings that replace all settings of the organization.",
  properties: {
    settings: {
      type: "array",
      items: givenSetting,
      maxItems: MAX_SETTINGS,
      examples: [[{ key: "theme", value: "dark" }, { key: "language" }]],
      description: "At most 1,000 settings with unique keys, and 1,048,576 characters in all.",
    },
  },
});
