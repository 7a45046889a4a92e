/** The document about an open demo. */
import { dateTime, object, string } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";
import { formatTimestamp } from "../core/time.ts";
import type { DemoNotice, ServiceDescription } from "./service.ts";

export const demoFacts = object({
  description: "Facts about an open demo; absent in other deployments.",
  optional: ["next_reset_at"],
  properties: {
    notice: string("A notice to visitors in one sentence."),
    next_reset_at: dateTime("The time of the next reset; absent without resets."),
  },
});

/** The facts of a demo for its documents. */
export function demoDocument(
  { nextResetAt }: DemoNotice,
  { publicSurface }: Pick<ServiceDescription, "publicSurface">,
): Infer<typeof demoFacts> {
  const notice =
    publicSurface === "open"
      ? "An open demo: anyone can read and write all data on /api/public"
      : "A demo: all of its data is reset at times";
  if (nextResetAt === undefined) return { notice };
  return { notice, next_reset_at: formatTimestamp(nextResetAt) };
}
