/** The parts of a request other than its body: target, host, headers, client address. */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { canonicalAddress } from "../core/address.ts";
import { BadInput, Misdirected, TooManyHeaders } from "../core/errors.ts";
import type { HostRule } from "./host-rule.ts";
import type { HeaderParameters } from "./route.ts";

/**
 * The most headers of a request, as in other servers. Names and values are kept apart: without this bound, the 16 KiB of
 * headers that have not ended yet would take 150 KiB of memory on each connection.
 */
export const MOST_HEADERS = 100;

/** Whether a flat list of names and values has more headers, or trailers, than a request may have. */
export function hasTooManyHeaders(raw: readonly string[]): boolean {
  return raw.length > 2 * MOST_HEADERS;
}

/** The two halves of a request target; `search` has no `?`. */
export interface Target {
  readonly path: string;
  readonly search: string;
}

const ORIGIN = /^https?:\/\/([^/?#]+)/i;
const SHOWN_HOST_LENGTH = 100;

/**
 * Splits a target, which may be in absolute form (RFC 9112 §3.2.2), into its raw path and query.
 *
 * @throws BadInput for a target that is neither a path, nor a URL, nor `*`
 */
export function splitTarget(url: string): Target {
  let target = url;
  if (!target.startsWith("/") && target !== "*") {
    const origin = ORIGIN.exec(target); // a URI without a host is invalid (RFC 9110 §4.2.1)
    if (!origin) throw new BadInput("The request target is not a path");
    target = target.slice(origin[0].length);
    if (!target.startsWith("/")) target = `/${target}`;
  }
  const mark = target.indexOf("?");
  if (mark === -1) return { path: target, search: "" };
  return { path: target.slice(0, mark), search: target.slice(mark + 1) };
}

/**
 * Checks the version, the headers and the framing of a request:
 *
 * - It has at most `MOST_HEADERS` headers. Node drops the others, which may be a Host or a key.
 * - It must be HTTP/1; Node's parser accepts 2.0 as well.
 * - It must have exactly one Host (RFC 9112 §3.2), but HTTP/1.0 may have none; Node's own check answers without a
 *   body. The service must answer to the host in the target, or otherwise in the header.
 * - Every proxy must read its length in the same way (§6.1): the only transfer coding is `chunked`, and not in
 *   HTTP/1.0.
 *
 * @param isAllowed `undefined` if any host is allowed
 * @throws TooManyHeaders, BadInput or Misdirected
 */
export function checkHead(request: IncomingMessage, isAllowed?: HostRule): void {
  if (hasTooManyHeaders(request.rawHeaders))
    throw new TooManyHeaders(`Headers: expected at most ${MOST_HEADERS}`);
  if (request.httpVersionMajor !== 1)
    throw new BadInput("HTTP version: expected HTTP/1.0 or HTTP/1.1");
  const framing = request.headers["transfer-encoding"];
  if (framing !== undefined && (request.httpVersionMinor === 0 || !/^chunked$/i.test(framing))) {
    throw new BadInput("Transfer-Encoding: only chunked is understood, and only in HTTP/1.1");
  }
  const hosts = headerCount("host", request);
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor !== 0)) {
    throw new BadInput("Exactly one Host header is required");
  }
  if (isAllowed === undefined) return;
  const { url = "", headers } = request;
  // A host in the target replaces the header (RFC 9112 §3.2.2).
  const host = url.startsWith("/") ? headers.host : (ORIGIN.exec(url)?.[1] ?? headers.host);
  if (host === undefined || isAllowed(host)) return;
  const shown = JSON.stringify(host.slice(0, SHOWN_HOST_LENGTH));
  throw new Misdirected(
    `Host: ${shown} is not a name that this server answers to; if it should be, add it to ALLOWED_HOSTS`,
  );
}

/**
 * Checks that there is at most one `Authorization` header: Node returns the first one, but a proxy may have
 * checked the second one, of another user.
 *
 * @throws BadInput
 */
export function checkAuthorization(request: IncomingMessage): void {
  if (headerCount("authorization", request) > 1) {
    throw new BadInput("Authorization: expected one such header, not several");
  }
}

/** The number of times that a request has a header; the name is in lower case. */
function headerCount(header: string, { rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === header.length && name.toLowerCase() === header) count++;
  }
  return count;
}

const lowerCased = new WeakMap<HeaderParameters, readonly (readonly [string, string])[]>();

/** The headers that a row declares, under the row's names for them. */
export function pickHeaders(
  request: IncomingMessage,
  declared: HeaderParameters,
): Readonly<Record<string, string | undefined>> {
  let names = lowerCased.get(declared);
  if (!names) {
    names = Object.keys(declared).map((name) => [name, name.toLowerCase()]);
    lowerCased.set(declared, names);
  }
  const picked: Record<string, string | undefined> = {};
  for (const [name, key] of names) {
    const value = request.headers[key];
    picked[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return picked;
}

/** An IPv4 address, or an IPv6 address in brackets, with or without a port. */
const WITH_PORT = /^(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([^\]]*)\])(?::\d{1,5})?$/;

/**
 * The caller's IP address. Each proxy appends the address of its own caller, so with `n` trusted proxies
 * the caller is the nth entry from the end; earlier entries may be forged. The port is dropped. If the
 * entry is not an address, the peer's address is returned. Every spelling of an address gives the same
 * text: otherwise a caller could avoid its throttle by a new spelling for each request.
 */
export function callerAddress(request: IncomingMessage, trustedProxies: number): string {
  const peer = request.socket.remoteAddress ?? "";
  if (trustedProxies === 0) return canonicalAddress(peer);
  const forwarded = String(request.headers["x-forwarded-for"] ?? "").split(",");
  const entry = forwarded.at(-trustedProxies)?.trim() ?? "";
  const [, v4, v6] = WITH_PORT.exec(entry) ?? [];
  const address = v4 ?? v6 ?? entry;
  return canonicalAddress(isIP(address) === 0 ? peer : address);
}

/**
 * Reads the body of a request that takes none, and drops it. Unread, it would be in memory until the answer. After the
 * answer Node drops what is unread, too, but not through `RequestInPieces`, which bounds the chunks.
 */
export function dropBody(request: IncomingMessage): void {
  const { "transfer-encoding": transfer, "content-length": length } = request.headers;
  if (transfer !== undefined || Number(length ?? 0) > 0) request.resume();
}
