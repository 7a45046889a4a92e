/** The document about an open demo. */
import { dateTime, object, string } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";
import { formatTimestamp } from "../core/time.ts";
import type { DemoNotice } from "./service.ts";

export const demoFacts = object({
  description: "Present where this is an open demo.",
  optional: ["next_reset_at"],
  properties: {
    notice: string("What visitors are to know, in a sentence."),
    next_reset_at: dateTime("When everything begins anew; absent where it never does."),
  },
});

/** The facts of a demo for its documents. */
export function demoDocument({ nextResetAt }: DemoNotice): Infer<typeof demoFacts> {
  const notice = "An open demo: anybody can read and write everything on /api/public";
  if (nextResetAt === undefined) return { notice };
  return { notice, next_reset_at: formatTimestamp(nextResetAt) };
}
