import type { Infer, Schema } from "../core/schema.ts";

const actorKinds = ["user", "key", "anonymous", "command"] as const;
const outcomes = ["done", "refused", "failed"] as const;

/** One entry of an organization's activity log. */
export const activityEntry = {
  title: "ActivityEntry",
  type: "object",
  description: "One change that somebody made through this service, or tried to make.",
  required: [
    "id",
    "organization_id",
    "timestamp",
    "actor",
    "request_id",
    "surface",
    "action",
    "target",
    "outcome",
  ],
  properties: {
    id: { type: "string", description: "The entry's id; ids sort by time." },
    organization_id: { type: "string", description: "The organization whose record this is." },
    timestamp: { type: "string", format: "date-time", description: "When it was written." },
    actor: {
      type: "object",
      description: "Who did it.",
      required: ["kind"],
      properties: {
        kind: {
          type: "string",
          enum: actorKinds,
          description:
            "A signed-in user, an API key, somebody who showed no credential, or the command line on the server's machine.",
        },
        id: { type: "string", description: "The user's or the key's id." },
        email: { type: "string", description: "The user's email." },
        name: { type: "string", description: "The key's name." },
      },
    },
    address: {
      type: "string",
      description: "The IP address that the request came from, if it is known.",
    },
    request_id: { type: "string", description: "The `X-Request-Id` of the answer." },
    surface: {
      type: "string",
      enum: ["public", "v1", "portal", "command"],
      description:
        "The prefix that it came by: `public` is `/api/public`, `v1` is `/api/v1`; `command` is the command line.",
    },
    action: {
      type: "string",
      description: "What was done, in a word that never changes: `policy.publish`, `login.failed`.",
    },
    target: {
      type: "object",
      description: "What it was done to.",
      required: ["type"],
      properties: {
        type: { type: "string", description: "What kind of thing: `policy`, `user`, `key`." },
        id: { type: "string", description: "Its id." },
        name: { type: "string", description: "What people call it." },
      },
    },
    before: {
      type: "object",
      additionalProperties: true,
      description: "What held before, as far as it was changed. Never a secret.",
    },
    after: {
      type: "object",
      additionalProperties: true,
      description: "What holds now. Of a password only that it was changed.",
    },
    outcome: {
      type: "string",
      enum: outcomes,
      description:
        "`done`; `refused`, of a sign-in; `failed` when the service could not tell whether it took effect.",
    },
  },
} as const satisfies Schema;
export type ActivityEntry = Infer<typeof activityEntry>;

export const activityPage = {
  title: "ActivityPage",
  type: "object",
  description: "A part of an organization's record of changes, newest first.",
  required: ["entries", "limit", "offset", "returned", "total"],
  properties: {
    entries: { type: "array", items: activityEntry, description: "The entries, newest first." },
    limit: { type: "integer", description: "The most entries that this page could hold." },
    offset: { type: "integer", description: "How many matching entries were skipped." },
    returned: { type: "integer", description: "How many entries this page holds." },
    total: { type: "integer", description: "How many entries match, over all pages." },
  },
} as const satisfies Schema;
