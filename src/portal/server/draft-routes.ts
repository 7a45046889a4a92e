import type { AuditEvent } from "../../audit/schema.ts";
import type { AuditStore } from "../../audit/store.ts";
import { BadInput, Conflict, NotFound } from "../../core/errors.ts";
import { parseLongJson } from "../../core/json/long-json.ts";
import type { Infer } from "../../core/schema.ts";
import type { Turns } from "../../core/scheduling/turns.ts";
import { Yielder } from "../../core/scheduling/yielder.ts";
import { route } from "../../http/route.ts";
import { askerOf, draftPolicyRules } from "../../policies/check.ts";
import { type DraftEvent, shortened } from "../../policies/draft-event.ts";
import { ruleDraft, ruleDraftRequest } from "../../policies/schema.ts";
import type { PolicyStore } from "../../policies/store.ts";

interface Needs {
  readonly audit: Pick<AuditStore, "withId">;
  readonly policies: Pick<PolicyStore, "active">;
  readonly draftReads: Turns;
}

/**
 * Events may have some MiB: they are read one at a time, and only what a draft uses is kept. A draft that waits has its
 * document in memory.
 */
export const DRAFT_READS = { atOnce: 1, atOnceOfOne: 1, waiting: 32 };

/** The route that drafts rules. It is here because it joins two domains that do not import each other. */
export const draftRoutes = [
  route({
    method: "POST",
    path: "/policies/draft-rule",
    surfaces: ["public", "v1"],
    access: "user",
    role: "viewer",
    summary: "Draft rules from audit events",
    description:
      "The draft is the active policy, or the given document, in which rules decide the commands of the events, each with a test. The document decides each command first: where a rule denies a command that is to be allowed, the draft makes an exception inside that rule, as narrow as the event. A new rule for a command is for everybody; comments in it name what would narrow it. If the active policy cannot be extended, the draft is a new document.",
    tags: ["policies"],
    body: ruleDraftRequest,
    question: true,
    replies: { 200: ruleDraft },
    refuses: [400, 404, 409, 500, 503],
    async handle({ organization, actor, client, body }, { audit, policies, draftReads }: Needs) {
      const { effect, yaml } = body;
      const events: DraftEvent[] = [];
      for (const id of idsOf(body)) {
        const event = await draftReads.run(client, async () => {
          const [found, another] = await audit.withId(organization, id);
          // A reporter may have used the id of another one on purpose.
          if (another)
            throw new Conflict(`Several reporters used the id "${id}": write the rule yourself`);
          if (!found) throw new NotFound(`There is no audit event "${id}"`);
          const event = await new Yielder(client.gone).run(parseLongJson(found, false));
          return shortened(event as AuditEvent);
        });
        events.push(event);
      }
      const active = await policies.active(organization);
      const base = yaml ?? active?.yaml ?? "";
      const draft = await draftPolicyRules(askerOf(client, actor), events, effect, base);
      if (!draft) {
        throw new BadInput(
          "event: no rule can name its command or its tool and match nothing else: write the rule yourself",
        );
      }
      if (draft.standsAlone && yaml !== undefined) {
        throw new BadInput(
          'yaml: cannot be extended; expected a valid document with "schema: signalbox/policy/v1" and lists in block style',
        );
      }
      return { yaml: draft.yaml, base_version: active?.version ?? "", changes: draft.changes };
    },
  }),
];

function idsOf({ event, events }: Infer<typeof ruleDraftRequest>): ReadonlySet<string> {
  if ((event === undefined) === (events === undefined)) {
    throw new BadInput("event: expected either event or events");
  }
  return new Set(events ?? [event as string]);
}
