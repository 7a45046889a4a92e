import { string } from "../core/schema-parts.ts";
import type { Schema } from "../core/schema.ts";
import { etagOf, isCurrent } from "../http/entity-tag.ts";
import { empty, json } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { policyDocument } from "./document-schema.ts";

const jsonSchema = {
  type: "object",
  description: "A JSON Schema (2020-12).",
  additionalProperties: true,
} as const satisfies Schema;

const body = Buffer.from(JSON.stringify(policyDocument, null, 2), "utf8");
const etag = etagOf(body);
const headers = ["ETag", etag, "Cache-Control", "no-cache"] as const;

/** The route of the JSON Schema of policy documents: without a prefix, open to everyone, never enforced. */
export const policySchemaRoutes = [
  route({
    method: "GET",
    path: "/metadata/policy.schema.json",
    surfaces: ["portal"],
    access: "open",
    summary: "Read the JSON Schema of policy documents",
    description:
      "The schema of documents that declare `schema: signalbox/policy/v1`, for editors. The service checks more: see `POST /policies/validate`.",
    tags: ["metadata"],
    headers: { "if-none-match": string("The entity tags of the client's copies.") },
    replyHeaders: { ETag: "A strong entity tag of the response." },
    replies: { 200: jsonSchema, 304: jsonSchema },
    handle: ({ headers: { "if-none-match": tags } }) =>
      isCurrent(tags, etag) ? empty(304, headers) : json(200, body, headers),
  }),
];
