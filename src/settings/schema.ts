import type { Infer, Schema } from "../core/schema.ts";

export const MAX_SETTINGS = 1_000;

const pair = {
  key: {
    type: "string",
    maxLength: 128,
    description: "The setting's name, 1 to 128 characters, unique within the organization.",
    examples: ["theme"],
  },
  value: {
    type: "string",
    maxLength: 64 * 1024,
    description: "Its value; may be the empty text.",
    examples: ["dark"],
  },
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

export const settings = {
  title: "Settings",
  type: "object",
  description: "What the deployment does, and the key-value pairs that the organization keeps.",
  required: ["edition", "organization_id", "auth", "settings", "audit"],
  properties: {
    edition: { type: "string", description: "The deployment's edition." },
    organization_id: { type: "string", description: "The organization the pairs belong to." },
    auth: {
      type: "object",
      additionalProperties: true,
      description: "How requests are authenticated now, read from the live configuration.",
    },
    settings: {
      type: "array",
      items: setting,
      description: "The pairs, in the order they were given.",
    },
    audit: {
      type: "object",
      description: "What the organization's audit events take up.",
      required: ["events", "bytes"],
      properties: {
        events: { type: "integer", description: "How many events are stored." },
        bytes: { type: "integer", description: "How many bytes their log takes." },
        oldest: {
          type: "string",
          format: "date-time",
          description: "The oldest event's `timestamp`; absent when there is none.",
        },
      },
    },
  },
} as const satisfies Schema;
export type Settings = Infer<typeof settings>;

export const settingsUpdate = {
  title: "SettingsUpdate",
  type: "object",
  description: "All pairs of the organization; those that were there before are replaced.",
  required: ["settings"],
  properties: {
    settings: {
      type: "array",
      items: givenSetting,
      maxItems: MAX_SETTINGS,
      examples: [[{ key: "theme", value: "dark" }, { key: "language" }]],
      description: "The pairs, at most 1,000 and 1,048,576 characters together; each key once.",
    },
  },
} as const satisfies Schema;
