import type { Capability } from "./schema.ts";

/**
 * Filters capabilities by provider (exactly), and by a text in name, description, id or provider,
 * in any letter case. A filter that is `undefined` matches all.
 */
export function findCapabilities(
  capabilities: readonly Capability[],
  provider: string | undefined,
  q: string | undefined,
): readonly Capability[] {
  const wanted = q?.toLowerCase();
  return capabilities.filter(
    (row) =>
      (provider === undefined || row.provider === provider) &&
      (wanted === undefined ||
        [row.name, row.description, row.id, row.provider].some((field) =>
          field.toLowerCase().includes(wanted),
        )),
  );
}
