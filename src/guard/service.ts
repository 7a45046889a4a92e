import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { boundedText } from "../core/bounded-text.ts";
import { SECOND_MS } from "../core/clock.ts";
import { clearTimeout, setTimeout } from "../core/timers.ts";
import type { GuardSettings } from "./settings.ts";

const TIMEOUT_SECONDS = 10;
/** The longest answer, in bytes: several times a policy of 1 MiB whose characters are all escaped. */
const MAX_ANSWER = 32 << 20;

/** The address of a service, and the credentials for it. */
export interface ServiceAccess extends Pick<GuardSettings, "api" | "apiKey"> {
  readonly token?: string | undefined;
  /** The variable or option that has the address; when absent, the guard's variable. */
  readonly addressIn?: string;
  /** The longest wait for an answer. */
  readonly timeoutSeconds?: number;
}

/** The way out of an error status, after a colon; empty if only waiting helps. */
export function wayOutOf(status: number, { apiKey }: Pick<ServiceAccess, "apiKey">): string {
  if (status === 401) {
    return apiKey === undefined
      ? ": it asks for a key, set SIGNALBOX_API_KEY"
      : ": SIGNALBOX_API_KEY is unknown, was revoked or has expired";
  }
  if (status === 403)
    return ": SIGNALBOX_API_KEY lacks the scope, create a key of the scope report";
  if (status !== 404) return "";
  return (
    ": correct RUNTIME_PORTAL_BASE_URL or RUNTIME_PORTAL_PATH_PREFIX; where /api/public is switched off, " +
    "the prefix is /api/v1, with a key in SIGNALBOX_API_KEY"
  );
}

/** An address as messages may show it: without a name and password in it. */
export function shownAddress(address: string): string {
  return address.replace(/^([a-z]+:\/\/)[^/?#]*@/i, "$1");
}

/** An answer of the service, read to its end. */
export interface ServiceAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * The service as the guard calls it. It does not use `fetch`: in Node 20, `fetch` never settles if a proxy closes the
 * connection at once, and the process then ends silently.
 */
export class Service {
  readonly #api: string;
  readonly #addressIn: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutSeconds: number;

  constructor(access: ServiceAccess) {
    const { api, apiKey, token } = access;
    const { addressIn = "RUNTIME_PORTAL_BASE_URL", timeoutSeconds = TIMEOUT_SECONDS } = access;
    this.#api = api;
    this.#addressIn = addressIn;
    this.#timeoutSeconds = timeoutSeconds;
    this.#headers = {
      ...(apiKey !== undefined && { "X-API-Key": apiKey }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    };
  }

  /** @throws Error if the service cannot be reached, with the way out */
  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ServiceAnswer> {
    return this.#ask("GET", path, headers);
  }

  /** @throws Error if the service cannot be reached, with the way out */
  post(path: string, body: unknown): Promise<ServiceAnswer> {
    const json = JSON.stringify(body);
    const length = String(Buffer.byteLength(json));
    const headers = { "Content-Type": "application/json", "Content-Length": length };
    return this.#ask("POST", path, headers, json);
  }

  async #ask(
    method: string,
    path: string,
    own: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<ServiceAnswer> {
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), this.#timeoutSeconds * SECOND_MS);
    try {
      const url = new URL(this.#api + path);
      const { request } = await import(url.protocol === "https:" ? "node:https" : "node:http");
      const headers = { ...this.#headers, ...own };
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request(url, { method, headers, signal: ending.signal }, resolve)
          .once("error", reject)
          // After a 101, Node closes the connection without an error or a response.
          .once("close", () => reject(new Error("no answer")))
          .end(body);
      });
      const { statusCode: status = 0, headers: received } = response;
      const text = await boundedText(response, MAX_ANSWER);
      if (text !== undefined) return { status, headers: received, text };
      throw new Error(`its answer is longer than ${MAX_ANSWER >> 20} MiB`);
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      const why = ending.signal.aborted
        ? `no answer in ${this.#timeoutSeconds} seconds`
        : (code ?? message);
      const wayOut = `start it, or set ${this.#addressIn} to its address`;
      throw new Error(`${shownAddress(this.#api)} cannot be reached: ${why}: ${wayOut}`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  }
}
