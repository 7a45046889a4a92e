import type { AuditEvent } from "../audit/schema.ts";
import type { AuditStore } from "../audit/store.ts";
import { BadInput, NotFound } from "../core/errors.ts";
import { object, string, word } from "../core/schema-parts.ts";
import { Turns } from "../core/turns.ts";
import { route } from "../http/route.ts";
import { askerOf, draftRule } from "../policies/check.ts";
import { shortened } from "../policies/draft-event.ts";
import { effects } from "../policies/evaluate.ts";
import type { PolicyStore } from "../policies/store.ts";

interface Needs {
  readonly audit: Pick<AuditStore, "get">;
  readonly policies: Pick<PolicyStore, "active">;
}

const ruleDraftRequest = {
  ...object({
    title: "RuleDraftRequest",
    description: "An audit event and the effect of the new rule.",
    properties: {
      event: string("The id of an audit event."),
      effect: word("The effect of the rule.", effects),
    },
  }),
  examples: [{ event: "01m81jf1ew0001pcmmak1ve7xq", effect: "deny" }],
} as const;

const ruleDraft = object({
  title: "RuleDraft",
  description: "A draft of a policy document. It is not stored.",
  properties: {
    yaml: string("The active policy with the new rule and a test, or a new document."),
  },
});

/** Events may have some MiB: they are read one at a time, and only what a draft uses is kept. */
const reading = new Turns(
  { atOnce: 1, atOnceOfOne: 1, waiting: 200 },
  "Too many drafts: try again",
);

/** The route that drafts a rule. It is here because it joins two domains that do not import each other. */
export const draftRoutes = [
  route({
    method: "POST",
    path: "/policies/draft-rule",
    surfaces: ["public", "v1"],
    access: "user",
    role: "viewer",
    summary: "Draft a rule from an audit event",
    description:
      "The draft is the active policy with a new first rule, which decides the command of the event, and a test. If that policy cannot be extended, the draft is a new document.",
    tags: ["policies"],
    body: ruleDraftRequest,
    report: true,
    replies: { 200: ruleDraft },
    refuses: [400, 404, 500, 503],
    async handle({ organization, actor, client, body }, { audit, policies }: Needs) {
      const event = await reading.run(client, async () => {
        const found = await audit.get(organization, body.event);
        if (!found) throw new NotFound(`There is no audit event "${body.event}"`);
        return shortened(JSON.parse(found.toString()) as AuditEvent);
      });
      const active = await policies.active(organization);
      const yaml = await draftRule(askerOf(client, actor), event, body.effect, active?.yaml);
      if (yaml !== undefined) return { yaml };
      throw new BadInput(
        "event: expected one with a command, or another value that a rule can match",
      );
    },
  }),
];
