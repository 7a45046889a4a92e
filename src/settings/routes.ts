import type { EventRedaction } from "../audit/redaction/event-redaction.ts";
import { checkOwnRules } from "../audit/redaction/own-rules.ts";
import type { AuditStore } from "../audit/store.ts";
import { route } from "../http/route.ts";
import { settingsAnswer, type SettingsConfig } from "./answer.ts";
import { settings as settingsReply } from "./schema.ts";
import type { SettingsStore } from "./store.ts";
import { differences, settingsUpdateBody } from "./update.ts";

interface Needs {
  readonly settings: SettingsStore;
  readonly audit: Pick<AuditStore, "usage">;
  readonly config: SettingsConfig;
  readonly redaction: Pick<EventRedaction, "forget">;
}

/** The routes of the organization's settings. */
export const settingsRoutes = [
  route({
    method: "GET",
    path: "/settings",
    surfaces: ["v1"],
    access: "user",
    summary: "Read the organization's settings",
    description:
      "The settings of the organization, the current authentication settings, and the size of its audit log.",
    tags: ["settings"],
    large: "made",
    replies: { 200: settingsReply },
    refuses: [500],
    async handle({ organization }, { settings, audit, config }: Needs) {
      const usage = await audit.usage(organization);
      return settingsAnswer(organization, await settings.list(organization), usage, config);
    },
  }),
  route({
    method: "PUT",
    path: "/settings",
    surfaces: ["v1"],
    access: "user",
    role: "admin",
    summary: "Replace the organization's settings",
    description:
      "Settings that the request leaves out are removed. `audit.redact.literals` and `audit.redact.names` are comma-separated texts and endings of names that are redacted in events.",
    tags: ["settings"],
    body: settingsUpdateBody,
    replies: { 200: settingsReply },
    refuses: [400, 500],
    change: {
      action: "settings.replace",
      target: () => ({ type: "settings" }),
    },
    async handle({ organization, body, note }, { settings, audit, config }: Needs) {
      checkOwnRules(body);
      await settings.replace(organization, body, (before) => note(differences(before, body)));
      // After the change, hence in the client's turn: a burst of these reads would take every connection.
      const usage = await audit.usage(organization);
      return settingsAnswer(organization, body, usage, config);
    },
    ended: ({ organization }, { redaction }: Needs) => redaction.forget(organization),
  }),
];
