import { boundedText } from "../core/bounded-text.ts";

export interface FetchLimits {
  /** Milliseconds for the whole response. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Fetches a text. User-info in the URL is sent as Basic credentials (RFC 7617), and never appears
 * in a message.
 *
 * @param signal ends the fetch early
 * @throws Error that says why the fetch failed, without the URL
 */
export async function fetchText(
  url: string,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<string> {
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  const { address, authorization } = splitCredentials(url);
  try {
    const response = await fetch(address, {
      signal: AbortSignal.any([timeout, signal]),
      headers: { accept: "application/json", ...(authorization && { authorization }) },
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Refused(`it answered with status ${response.status}`);
    }
    const body = (response.body ?? []) as AsyncIterable<Uint8Array>;
    const text = await boundedText(body, limits.maxBytes);
    if (text !== undefined) return text;
    throw new Refused(`it answered with more than ${limits.maxBytes} bytes`);
  } catch (error) {
    if (timeout.aborted) throw new Error(`it did not answer within ${limits.timeoutMs} ms`);
    if (error instanceof Refused) throw new Error(error.message);
    // The messages of `fetch` may quote the URL; its error codes do not.
    const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException) : undefined;
    throw new Error(`it cannot be reached (${cause?.code ?? "connection failed"})`);
  }
}

/** The URL without user-info; unchanged if it has none. */
export function withoutUser(url: string): string {
  return splitCredentials(url).address;
}

/** The URL as everyone may see it: without user-info and query, either of which can be a credential. */
export function reportedUrl(url: string): string {
  return withoutUser(url).replace(/[?#][^]*/, "?…");
}

class Refused extends Error {}

function splitCredentials(url: string): { address: string; authorization: string | undefined } {
  const parsed = new URL(url);
  const { username, password } = parsed;
  if (username === "" && password === "") return { address: url, authorization: undefined };
  parsed.username = "";
  parsed.password = "";
  const pair = `${decoded(username)}:${decoded(password)}`;
  const authorization = `Basic ${Buffer.from(pair, "utf8").toString("base64")}`;
  return { address: parsed.href, authorization };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a bare percent sign in a password
  }
}
