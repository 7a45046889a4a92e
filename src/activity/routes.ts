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
    summary: "List who changed what, newest first",
    description:
      "Sign-ins, failed ones too, and every change of policies, keys, users, organizations, settings, " +
      "providers and the fleet, as well as exports by users and keys. What runtimes report is listed by `/audit`.",
    tags: ["activity"],
    large: "made",
    query: {
      action: string(
        "Only this action, such as `policy.publish`; without a dot all of that kind, such as `policy`.",
      ),
      actor: string(
        "Only what the user or key with this id, email or name did; `anonymous` for nobody known.",
      ),
      target: string("Only what was done to the thing with exactly this id or name."),
      q: string(
        "Text that the action, actor, target, address or request id must contain, in any letter case.",
      ),
      from: dateTime("Only entries written at this moment or later."),
      to: dateTime("Only entries written before this moment."),
      limit: integer("The most entries in the page.", { minimum: 1, maximum: 1000, default: 100 }),
      offset: integer("How many matching entries to skip, counted from the newest.", {
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
      }),
    },
    replies: { 200: activityPage },
    refuses: [400, 500],
    async handle({ organization, query }, { activity }: Needs) {
      const { from, to, limit, offset, ...texts } = query;
      const filter = { ...texts, from: readMoment("from", from), to: readMoment("to", to) };
      const { json, returned, total } = await activity.page(organization, filter, limit, offset);
      const rest = JSON.stringify({ limit, offset, returned, total }).slice(1);
      return jsonAround('{"entries":[', json, `],${rest}`);
    },
  }),
];
