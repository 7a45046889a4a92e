import type { Infer, Schema } from "../core/schema.ts";
import { environment, surfaces } from "./schema.ts";

export const metadataAuthentication = {
  title: "MetadataAuthentication",
  type: "object",
  description: "How the running process authenticates callers.",
  required: [
    "require_auth",
    "roles",
    "key_scopes",
    "api_keys_accepted",
    "documentation",
    "environment",
    "runtime_client_header",
    "schemes",
    "surfaces",
  ],
  properties: {
    require_auth: {
      type: "boolean",
      description: "Whether `/api/v1` demands credentials at this moment.",
    },
    roles: {
      type: "string",
      enum: ["carried", "enforced"],
      description: "`enforced` where roles restrict users, `carried` where they are only reported.",
    },
    key_scopes: {
      type: "object",
      description:
        "What a key of each scope may do. A key with another text in `scopes` acts as `runtime`.",
      additionalProperties: { type: "string", description: "What the scope includes." },
    },
    api_keys_accepted: { type: "boolean", description: "Whether API keys are taken." },
    documentation: { type: "string", description: "Where to read about every operation." },
    environment,
    runtime_client_header: {
      type: "string",
      description: "The header by which a runtime names itself.",
    },
    schemes: {
      type: "array",
      description: "The ways to authenticate.",
      items: {
        type: "object",
        description: "One way to authenticate.",
        additionalProperties: true,
      },
    },
    surfaces,
  },
} as const satisfies Schema;
export type MetadataAuthentication = Infer<typeof metadataAuthentication>;
