import { dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";

const actorKinds = ["user", "key", "anonymous", "command"] as const;
const outcomes = ["done", "refused", "failed"] as const;

/** One entry of an organization's activity log. */
export const activityEntry = object({
  title: "ActivityEntry",
  description: "One change that somebody made through this service, or tried to make.",
  optional: ["address", "before", "after"],
  properties: {
    id: string("The entry's id; ids sort by time."),
    organization_id: string("The organization whose record this is."),
    timestamp: dateTime("When it was written."),
    actor: {
      type: "object",
      description: "Who did it.",
      required: ["kind"],
      properties: {
        kind: word(
          "A signed-in user, an API key, somebody who showed no credential, or the command line on the server's machine.",
          actorKinds,
        ),
        id: string("The user's or the key's id."),
        email: string("The user's email."),
        name: string("The key's name."),
      },
    },
    address: string("The IP address that the request came from, if it is known."),
    request_id: string("The `X-Request-Id` of the answer."),
    surface: word(
      "The prefix that it came by: `public` is `/api/public`, `v1` is `/api/v1`; `command` is the command line.",
      ["public", "v1", "portal", "command"],
    ),
    action: string(
      "What was done, in a word that never changes: `policy.publish`, `login.failed`.",
    ),
    target: {
      type: "object",
      description: "What it was done to.",
      required: ["type"],
      properties: {
        type: string("What kind of thing: `policy`, `user`, `key`."),
        id: string("Its id."),
        name: string("What people call it."),
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
    outcome: word(
      "`done`; `refused`, of a sign-in; `failed` when the service could not tell whether it took effect.",
      outcomes,
    ),
  },
});
export type ActivityEntry = Infer<typeof activityEntry>;

export const activityPage = object({
  title: "ActivityPage",
  description: "A part of an organization's record of changes, newest first.",
  properties: {
    entries: list("The entries, newest first.", activityEntry),
    limit: integer("The most entries that this page could hold."),
    offset: integer("How many matching entries were skipped."),
    returned: integer("How many entries this page holds."),
    total: integer("How many entries match, over all pages."),
  },
});
