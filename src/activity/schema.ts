import { dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";

const actorKinds = ["user", "key", "anonymous", "command", "gate", "service"] as const;
const outcomes = ["done", "refused", "failed"] as const;

/** One entry of an organization's activity log. */
export const activityEntry = object({
  title: "ActivityEntry",
  description: "A change through this service, or an attempt.",
  optional: ["address", "before", "after"],
  properties: {
    id: string("The id of the entry. Ids sort by time."),
    organization_id: string("The organization of the entry."),
    timestamp: dateTime("The time of the entry."),
    actor: {
      type: "object",
      description: "The caller.",
      required: ["kind"],
      properties: {
        kind: word(
          "The kind of caller: a user, an API key, a caller without credentials, the command line on the server, a gate of a rollout, or the service itself.",
          actorKinds,
        ),
        id: string("The id of the user or key."),
        email: string("The user's email."),
        name: string("The key's name."),
      },
    },
    address: string("The IP address of the client, if it is known."),
    request_id: string("The `X-Request-Id` of the response."),
    surface: word(
      "`public` for `/api/public`, `v1` for `/api/v1`, `portal` for a path without a prefix, `command` for the command line, `service` for a step that the service takes by itself.",
      ["public", "v1", "portal", "command", "service"],
    ),
    action: string("The permanent name of the action, such as `policy.publish` or `login.failed`."),
    target: {
      type: "object",
      description: "The object of the action.",
      required: ["type"],
      properties: {
        type: string("The kind of object, such as `policy`, `user` or `key`."),
        id: string("The id of the object."),
        name: string("The name of the object."),
      },
    },
    before: {
      type: "object",
      additionalProperties: true,
      description: "The changed fields before the change. Secrets are left out.",
    },
    after: {
      type: "object",
      additionalProperties: true,
      description: "The fields after the change. Secrets are left out.",
    },
    outcome: word(
      "`done`, `refused` for a sign-in, or `failed` if the change may not have taken effect.",
      outcomes,
    ),
  },
});
export type ActivityEntry = Infer<typeof activityEntry>;

export const activityPage = object({
  title: "ActivityPage",
  description: "A page of the activity log, newest first.",
  properties: {
    entries: list("The entries, newest first.", activityEntry),
    limit: integer("The limit that was applied."),
    offset: integer("The offset that was applied."),
    returned: integer("The number of entries on this page."),
    total: integer("The number of matching entries on all pages."),
  },
});
