import type { Tally } from "./tally.ts";

const TIMEOUT_MS = 10_000;

/** The outcome of a request: done, worth another attempt, or refused for good. */
export type Outcome =
  | {
      readonly kind: "done";
      readonly status: number;
      readonly body: unknown;
      readonly etag?: string;
    }
  | { readonly kind: "failed"; readonly retryAfterMs: number }
  | { readonly kind: "refused"; readonly status: number };

export interface PortalOptions {
  /** The URL with the prefix. */
  readonly base: string;
  readonly key: string | undefined;
  readonly tally: Tally;
  /** The most requests; further ones fail. */
  readonly most: number;
}

/** The service, as a runtime sees it. */
export class Portal {
  readonly #options: PortalOptions;

  constructor(options: PortalOptions) {
    this.#options = options;
  }

  /** Sends a request; never throws. */
  async send(
    method: "GET" | "POST",
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    const { base, key, tally, most } = this.#options;
    if (tally.requests >= most) return { kind: "failed", retryAfterMs: 0 };
    tally.requests++;
    const start = performance.now();
    try {
      const response = await fetch(base + path, {
        method,
        headers: {
          ...headers,
          ...(key !== undefined && { "X-API-Key": key }),
          ...(body !== undefined && { "Content-Type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      tally.took(performance.now() - start);
      return this.#outcome(method, path, response, text);
    } catch (error) {
      tally.failures++;
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      tally.because(`${method} ${path}: ${cause instanceof Error ? cause.message : "failed"}`);
      return { kind: "failed", retryAfterMs: 0 };
    }
  }

  #outcome(method: string, path: string, response: Response, text: string): Outcome {
    const { tally } = this.#options;
    const { status } = response;
    if (response.ok || status === 304) {
      const etag = response.headers.get("etag");
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      return { kind: "done", status, body, ...(etag !== null && { etag }) };
    }
    tally.because(`${method} ${path}: ${status} ${text.slice(0, 120)}`);
    if (status === 429 || status >= 500) {
      tally.failures++;
      const seconds = Number(response.headers.get("retry-after") ?? 0);
      return { kind: "failed", retryAfterMs: seconds > 0 ? seconds * 1_000 : 0 };
    }
    // A missing policy is an ordinary answer for a runtime, which continues with its copy.
    if (!(status === 404 && method === "GET")) tally.refused++;
    return { kind: "refused", status };
  }

  get tally(): Tally {
    return this.#options.tally;
  }
}
