import type { AuditEvent, Histogram } from "../../audit/schema.ts";
import type { Capability } from "../../catalog/schema.ts";
import { pathSegment } from "../../core/path-segment.ts";
import type { Provider } from "../../providers/schema.ts";
import { inWords } from "../error-words.ts";
import type { PageSource } from "./source.ts";
import { countedOf } from "./time-chart.ts";

/** An error status, or no answer at all. */
export class ApiError extends Error {
  /** 0 when there was no answer. */
  readonly status: number;

  /** The body of the answer. */
  readonly body: unknown;

  constructor(status: number, message: string, body?: unknown) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/** The parameters of a request; empty ones are left out. */
export type ApiQuery = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Reads one resource of the API; rejects with an `ApiError`. */
export type ReadApi = <T>(path: string, query?: ApiQuery) => Promise<T>;

/** Reads the data of pages from the API. */
export function apiSource(read: ReadApi): PageSource {
  /** Reads the list that an answer has under a name. */
  const list = async <Name extends string, T>(
    path: string,
    name: Name,
    query?: ApiQuery,
  ): Promise<readonly T[]> => (await read<Record<Name, readonly T[]>>(path, query))[name];
  return {
    page: (query, limit, cursor) => read("/audit", { ...query, limit, cursor }),
    histogram: async (query, interval) =>
      countedOf(await read<Histogram>("/audit/histogram", { ...query, interval })),
    event: async (id) => ({ event: await read<AuditEvent>(`/audit/${pathSegment(id)}`) }),
    providers: () => list("/provider-names", "providers"),
    problemOf(error) {
      const isRefusal = error instanceof ApiError && error.status >= 400 && error.status < 500;
      return isRefusal && error.status !== 401 ? inWords(error.message) : undefined;
    },
    counts: () => read("/dashboard"),
    hours: (from) => read("/audit/histogram", { from: new Date(from).toISOString() }),
    fleetSummary: () => read("/fleet/summary"),
    runtimes: (filter, limit, sort) => read("/fleet", { ...filter, limit, sort }),
    versions: () => list("/policies", "policies", { texts: "false" }),
    policy: (version) => read(`/policies/${encodeURIComponent(version)}`),
    rules: (version, rule) => read(`/policies/${encodeURIComponent(version)}/rules`, { rule }),
    rollouts: () => list("/rollouts", "rollouts"),
    rollout: (id) => read(`/rollouts/${encodeURIComponent(id)}`),
    async catalog() {
      const [{ catalog: source, providers }, { capabilities }] = await Promise.all([
        read<{ readonly catalog: string; readonly providers: readonly Provider[] }>("/providers"),
        read<{ readonly capabilities: readonly Capability[] }>("/capabilities"),
      ]);
      return { source, providers, capabilities };
    },
    keys: () => list("/api-keys", "api_keys"),
    users: () => list("/users", "users"),
    organizations: () => list("/organizations", "organizations"),
    settings: () => read("/settings"),
    activity: (texts, limit, offset) => read("/activity", { ...texts, limit, offset }),
    user: () => read("/auth/me"),
  };
}
