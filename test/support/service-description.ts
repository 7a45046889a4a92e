import type { RouteDescription } from "../../src/http/route.ts";
import type { ServiceDescription } from "../../src/metadata/service.ts";

/** A description of a service that does not run, for functions that take one. */
export function describeService(
  rows: readonly RouteDescription[],
  changes: Partial<ServiceDescription> = {},
): ServiceDescription {
  const startedAt = Date.parse("2026-11-20T20:30:00.000Z");
  return {
    rows,
    build: { version: "1.2.3", commit: "unknown", buildTime: "unknown" },
    startedAt,
    now: () => startedAt + 90_500,
    baseUrl: () => "https://signalbox.test",
    environment: "testing",
    edition: "community",
    requireAuth: () => false,
    roles: "carried",
    publicSurface: "open",
    catalog: () => ({ source: "embed", capabilities: 2 }),
    engineHealth: () => ({ unwritable: [], isDegraded: false }),
    ...changes,
  };
}
