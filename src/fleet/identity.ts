import { createHash } from "node:crypto";

/**
 * The id of a runtime. It is computed from the organization and the name alone, so it stays the
 * same after a restart, a restored backup, or when a forgotten runtime comes back. An identifier,
 * not a secret: anyone who knows the name can compute it.
 */
export function runtimeIdOf(organization: string, name: string): string {
  const digest = createHash("sha256").update(`${organization}\n${name}`, "utf8").digest("hex");
  return `rt_${digest.slice(0, 32)}`;
}
