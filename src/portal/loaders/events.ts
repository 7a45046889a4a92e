import type { AuditEvent } from "../../audit/schema.ts";
import type { AuditRows } from "../../audit/store.ts";

/** The events of a page, which comes in pieces when they are long. */
export async function eventsOf({ json }: AuditRows): Promise<readonly AuditEvent[]> {
  const pieces: Buffer[] = [];
  if (Buffer.isBuffer(json)) pieces.push(json);
  else for await (const piece of json) pieces.push(piece);
  return JSON.parse(`[${Buffer.concat(pieces).toString("utf8")}]`) as AuditEvent[];
}
