/** The document about an open demo. */
import type { Infer, Schema } from "../core/schema.ts";
import { formatTimestamp } from "../core/time.ts";
import type { DemoNotice } from "./service.ts";

export const demoFacts = {
  type: "object",
  description: "Present where this is an open demo.",
  required: ["notice"],
  properties: {
    notice: { type: "string", description: "What visitors are to know, in a sentence." },
    next_reset_at: {
      type: "string",
      format: "date-time",
      description: "When everything begins anew; absent where it never does.",
    },
  },
} as const satisfies Schema;

/** The facts of a demo for its documents. */
export function demoDocument({ nextResetAt }: DemoNotice): Infer<typeof demoFacts> {
  const notice = "An open demo: anybody can read and write everything on /api/public";
  if (nextResetAt === undefined) return { notice };
  return { notice, next_reset_at: formatTimestamp(nextResetAt) };
}
