import { createHash } from "node:crypto";

/**
 * The id of a runtime. It is computed only from the organization and the name, so it stays the same after
 * a restart, in a restored backup, and when a forgotten runtime comes back. It is not a secret: anyone who
 * knows the name can compute it.
 */
export function runtimeIdOf(organization: string, name: string): string {
  const digest = createHash("sha256").update(`${organization}\n${name}`, "utf8").digest("hex");
  return `rt_${digest.slice(0, 32)}`;
}
