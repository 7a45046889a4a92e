import type { AuditEvent } from "../audit/schema.ts";
import type { AuditStore } from "../audit/store.ts";
import { BadInput, NotFound } from "../core/errors.ts";
import type { Schema } from "../core/schema.ts";
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
  title: "RuleDraftRequest",
  type: "object",
  description: "An audit event, and the effect of the new rule.",
  required: ["event", "effect"],
  examples: [{ event: "01m81jf1ew0001pcmmak1ve7xq", effect: "deny" }],
  properties: {
    event: { type: "string", description: "The id of an audit event." },
    effect: { type: "string", enum: effects, description: "The effect of the rule." },
  },
} as const satisfies Schema;

const ruleDraft = {
  title: "RuleDraft",
  type: "object",
  description: "A policy document to continue in an editor. Nothing is stored.",
  required: ["yaml"],
  properties: {
    yaml: {
      type: "string",
      description: "The active policy with the rule and a test, or a document of its own.",
    },
  },
} as const satisfies Schema;

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
      "Answers the active policy with a rule that decides the command of the event, before its other rules, and a test of it. Comments and layout stay. Where that policy cannot be extended, the draft is a document of its own.",
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
