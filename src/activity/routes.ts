import { dateTime, integer, string } from "../core/schema-parts.ts";
import { readMoment } from "../core/moment.ts";
import { jsonAround } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { activityPage } from "./schema.ts";
import type { ActivityStore } from "./store.ts";

interface Needs {
  readonly activity: Pick<ActivityStore, "page">;
}

/** The route of an organization's activity log. */
export const activityRoutes = [
  route({
    method: "GET",
    path: "/activity",
    surfaces: ["v1"],
    access: "user",
    summary: "List the activity log, newest first",
    description:
      "The log has all sign-ins, changes, and exports by users and keys. `/audit` lists the commands of runtimes.",
    tags: ["activity"],
    large: "made",
    query: {
      action: string("Only this action (`policy.publish`), or this kind of action (`policy`)."),
      actor: string(
        "Only entries of the user or key with this id, email or name. `anonymous` selects callers without credentials.",
      ),
      target: string("Only entries about the object with exactly this id or name."),
      q: string("Text in the action, actor, target, address or request id, in any letter case."),
      from: dateTime("Only entries at or after this time."),
      to: dateTime("Only entries before this time."),
      limit: integer("The maximum number of entries on the page.", {
        minimum: 1,
        maximum: 1000,
        default: 100,
      }),
      offset: integer("The number of matching entries to skip, from the newest on.", {
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
      }),
    },
    replies: { 200: activityPage },
    refuses: [400, 500],
    async handle({ organization, query, client }, { activity }: Needs) {
      const { from, to, limit, offset, ...texts } = query;
      const filter = { ...texts, from: readMoment("from", from), to: readMoment("to", to) };
      const { gone } = client;
      const found = await activity.page(organization, filter, limit, offset, gone);
      const { json, returned, total } = found;
      const rest = JSON.stringify({ limit, offset, returned, total }).slice(1);
      return jsonAround('{"entries":[', json, `],${rest}`);
    },
  }),
];
