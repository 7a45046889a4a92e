/** The routes that prove what the audit log contains. */
import { BadInput, NotFound } from "../core/errors.ts";
import { integer, list, object, string } from "../core/schema-parts.ts";
import { text } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { EVENT_ID } from "../audit/schema.ts";
import type { ProofStore } from "./store.ts";

interface Needs {
  /** `undefined` while nothing is signed. */
  readonly proofs: ProofStore | undefined;
}

const consistency = object({
  title: "AuditConsistency",
  description: "The proof that a tree continues a smaller one (RFC 6962 §2.1.2).",
  properties: {
    from: integer("The smaller size."),
    to: integer("The larger size."),
    hashes: list("The hashes, in Base64.", string("32 bytes in Base64.")),
  },
});

const common = {
  method: "GET",
  surfaces: ["public", "v1"],
  access: "user",
  keys: "audit.read",
  tags: ["audit"],
} as const;
const OFF = "The status is 404 unless `CHECKPOINT_SECONDS` is above 0.";
const PLAIN = "text/plain; charset=utf-8";

/** The routes of the audit log's tree. */
export const proofRoutes = [
  route({
    ...common,
    path: "/audit/checkpoint",
    summary: "Get the last signed checkpoint of the audit log",
    description: `The size and root of the tree over all audit events, as a signed note (C2SP tlog-checkpoint). ${OFF}`,
    replies: { 200: "text/plain" },
    refuses: [404, 500],
    async handle({ organization }, needs: Needs) {
      return text(200, PLAIN, await proofsOf(needs).checkpoint(organization));
    },
  }),
  route({
    ...common,
    path: "/audit/verifier",
    summary: "Get the public key of the audit log",
    description: `The key that signs checkpoints, as one word (C2SP signed-note). ${OFF}`,
    replies: { 200: "text/plain" },
    refuses: [404, 500],
    async handle({ organization }, needs: Needs) {
      return text(200, PLAIN, `${proofsOf(needs).verifier(organization)}\n`);
    },
  }),
  route({
    ...common,
    path: "/audit/consistency",
    summary: "Prove that the audit log only grew",
    description: `The hashes that show that the first \`from\` events of the tree of \`to\` events are unchanged. ${OFF}`,
    query: {
      from: integer("The smaller size.", {
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
      }),
      to: integer("The larger size, at most that of the last checkpoint.", {
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
      }),
    },
    replies: { 200: consistency },
    refuses: [400, 404, 500],
    async handle({ organization, query }, needs: Needs) {
      const proofs = proofsOf(needs);
      const { from, to } = query;
      if (from > to) throw new BadInput(`from: ${from} is larger than to, ${to}`);
      const hashes = await proofs.consistency(organization, from, to);
      if (!hashes) throw new NotFound(`to: the last checkpoint has fewer than ${to} events`);
      return { from, to, hashes: hashes.map((hash) => hash.toString("base64")) };
    },
  }),
  route({
    ...common,
    path: "/audit/{id}/proof",
    summary: "Prove that the audit log contains an event",
    description: `A file (C2SP tlog-proof) that \`signalbox verify-proof\` and other programs check without the server. If several reporters used the id, it is for the event that was stored first. ${OFF}`,
    params: {
      id: string("The event's id.", { ruled: EVENT_ID, examples: ["01m81jf1ew0001pcmmak1ve7xq"] }),
    },
    replies: { 200: "application/octet-stream" },
    refuses: [404, 409, 500],
    async handle({ organization, params }, needs: Needs) {
      const proof = await proofsOf(needs).proof(organization, params.id);
      return text(200, "application/octet-stream", proof);
    },
  }),
];

function proofsOf({ proofs }: Needs): ProofStore {
  if (proofs !== undefined) return proofs;
  throw new NotFound("The logs are not signed: set CHECKPOINT_SECONDS to sign them");
}
