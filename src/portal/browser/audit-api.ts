/** What the audit page reads from the API. */
import type { AuditEvent, Histogram } from "../../audit/schema.ts";
import type { AuditSlice, AuditSource } from "../pages/audit-source.ts";
import { countedOf } from "../pages/time-chart.ts";
import { ApiError, read } from "./api.ts";

/** Read once: what they are good for is a list to choose from. */
let providerNames: Promise<readonly string[]> | undefined;

async function readProviderNames(): Promise<readonly string[]> {
  try {
    return (await read<{ readonly providers: readonly string[] }>("/provider-names")).providers;
  } catch {
    return []; // one types the name then
  }
}

/** Whether the page is about to be left for the sign-in page. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Reads events as who is signed in, until a signal ends that. */
export function sourceOf(signal?: AbortSignal): AuditSource {
  const options = signal ? { signal } : {};
  return {
    page: (query, limit, cursor) =>
      read<AuditSlice>("/audit", { ...options, query: { ...query, limit, cursor } }),
    async histogram(query, interval) {
      const asked = { ...options, query: { ...query, interval } };
      return countedOf(await read<Histogram>("/audit/histogram", asked));
    },
    event: async (id) => ({
      event: await read<AuditEvent>(`/audit/${encodeURIComponent(id)}`, options),
    }),
    providers: () => (providerNames ??= readProviderNames()),
    problemOf(error) {
      const isRefusal = error instanceof ApiError && error.status >= 400 && error.status < 500;
      return isRefusal && error.status !== 401 ? error.message : undefined;
    },
  };
}
