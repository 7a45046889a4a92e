import { session, signInAgain } from "./session.ts";

/** An answer with an error status, or no answer: the service's own words, or what happened. */
export class ApiError extends Error {
  /** 0 when there was no answer at all. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What a request says beside its method and path. */
export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** The answer has no end: then its own signal alone ends the request. */
  readonly isEndless?: boolean;
}

const LONGEST_MS = 20_000;

/**
 * Calls an operation of the surface that the page uses, as who is signed in.
 *
 * @param path below the surface's prefix, its parameters encoded
 * @throws ApiError; on a 401 the page is left for the sign-in page. What was given up by its own
 *   signal rejects with that signal's reason
 */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await open(method, path, options);
  const value: unknown = await response.json().catch(() => undefined);
  if (response.ok) return value as T;
  throw refusalOf(response.status, value);
}

/** The error message in an answer's body; without one, the status stands for it. */
export function refusalOf(status: number, value: unknown): ApiError {
  const { error } = (value ?? {}) as { readonly error?: unknown };
  return new ApiError(status, typeof error === "string" ? error : `The service answered ${status}`);
}

/** Reads one resource. */
export function read<T>(path: string, options?: CallOptions): Promise<T> {
  return call("GET", path, options);
}

/** Sends a request and gives the answer as it comes, for what is read piece by piece. */
export async function open(
  method: string,
  path: string,
  { query = {}, body, headers: own = {}, signal, isEndless = false }: CallOptions = {},
): Promise<Response> {
  const url = new URL(prefix() + path, location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  const token = session()?.token;
  const headers: Record<string, string> = { Accept: "application/json", ...own };
  if (token !== undefined) headers["Authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const limit = isEndless ? new AbortController().signal : AbortSignal.timeout(LONGEST_MS);
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    const reason = limit.aborted ? "did not answer in time" : "cannot be reached";
    throw new ApiError(0, `The service ${reason}`);
  }
  if (response.status === 401 && path !== "/auth/login") signInAgain();
  return response;
}

/** Says in a sentence what went wrong. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the page calls the surface on which data can be changed; the server decides that in `mode.ts`. */
export function callsV1(): boolean {
  return prefix() === "/api/v1";
}

function prefix(): string {
  return document.body.dataset["prefix"] ?? "";
}
