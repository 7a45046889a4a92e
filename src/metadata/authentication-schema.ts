import { boolean, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";
import { environment, surfaces } from "./schema.ts";

export const metadataAuthentication = object({
  title: "MetadataAuthentication",
  description: "How the running process authenticates callers.",
  properties: {
    require_auth: boolean("Whether `/api/v1` demands credentials at this moment."),
    roles: word("`enforced` where roles restrict users, `carried` where they are only reported.", [
      "carried",
      "enforced",
    ]),
    key_scopes: {
      type: "object",
      description:
        "What a key of each scope may do. A key with another text in `scopes` acts as `runtime`.",
      additionalProperties: string("What the scope includes."),
    },
    api_keys_accepted: boolean("Whether API keys are taken."),
    documentation: string("Where to read about every operation."),
    environment,
    runtime_client_header: string("The header by which a runtime names itself."),
    schemes: list("The ways to authenticate.", {
      type: "object",
      description: "One way to authenticate.",
      additionalProperties: true,
    }),
    surfaces,
  },
});
export type MetadataAuthentication = Infer<typeof metadataAuthentication>;
