import { inWords } from "../error-words.ts";
import { ApiError, apiSource, type ApiQuery } from "../pages/api-source.ts";
import type { PageSource } from "../pages/source.ts";
import { session, signInAgain } from "./session.ts";

/** The parts of a request beside its method and path. */
export interface CallOptions {
  readonly query?: ApiQuery;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** The answer is a stream: only `signal` ends the request. */
  readonly isEndless?: boolean;
}

const LONGEST_MS = 20_000;

/**
 * Calls an operation of the surface that the page uses, as the signed-in user.
 *
 * @param path below the surface's prefix, its parameters encoded
 * @throws ApiError; a 401 also leads to the sign-in page. A request that its own signal ended rejects
 *   with that signal's reason
 */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await open(method, path, options);
  return (await response.json().catch(() => undefined)) as T;
}

/** Reads one resource. */
export function read<T>(path: string, options?: CallOptions): Promise<T> {
  return call("GET", path, options);
}

let providerNames: Promise<readonly string[]> | undefined;

/** Reads pages' data until a signal fires. Provider names are read once, and again only after a failure: they only suggest. */
export function pageSource(signal?: AbortSignal): PageSource {
  const source = apiSource((path, query = {}) => read(path, { query, signal }));
  const readNames = apiSource((path) => read(path)).providers;
  const failed = (): readonly string[] => {
    providerNames = undefined;
    return [];
  };
  return { ...source, providers: () => (providerNames ??= readNames().catch(failed)) };
}

/** Whether an error means that the page is about to be left for the sign-in page. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Sends a request like `call`, and returns the response itself, for bodies that are not JSON or are read piece by piece. */
export async function open(
  method: string,
  path: string,
  { query = {}, body, headers: own = {}, signal, isEndless = false }: CallOptions = {},
): Promise<Response> {
  const url = new URL(prefix() + path, location.origin);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== "") url.searchParams.append(name, String(one));
    }
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
  if (response.status === 401 && path !== "/auth/login") signInAgain(token);
  if (response.ok) return response;
  const value: unknown = await response.json().catch(() => undefined);
  const { error } = (value ?? {}) as { readonly error?: unknown };
  const message = typeof error === "string" ? error : `The service answered ${response.status}`;
  throw new ApiError(response.status, message, value);
}

/** The message of an error, in words for people. */
export function reasonOf(error: unknown): string {
  return inWords(error instanceof Error ? error.message : String(error));
}

function prefix(): string {
  return document.body.dataset["prefix"] ?? "";
}
