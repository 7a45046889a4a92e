import type { GuardSettings } from "./settings.ts";

const TIMEOUT_MS = 10_000;

/** The service as the guard calls it. */
export class Service {
  readonly #api: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ api, apiKey }: GuardSettings) {
    this.#api = api;
    this.#headers = apiKey === undefined ? {} : { "X-API-Key": apiKey };
  }

  /** @throws Error if the service cannot be reached */
  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.#fetch(path, { headers: { ...this.#headers, ...headers } });
  }

  /** @throws Error if the service cannot be reached */
  async post(path: string, body: unknown): Promise<Response> {
    const headers = { ...this.#headers, "Content-Type": "application/json" };
    const response = await this.#fetch(path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    await response.arrayBuffer(); // so that the connection can be used again
    return response;
  }

  async #fetch(path: string, options: RequestInit): Promise<Response> {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      return await fetch(this.#api + path, { ...options, signal, redirect: "error" });
    } catch (error) {
      const { message, cause } = error as Error;
      const why = (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
      throw new Error(`${this.#api} cannot be reached: ${why}`, { cause: error });
    }
  }
}
