/** Host names, as found in settings and in the Host header. */
import { isIPv4 } from "node:net";
import { canonicalAddress } from "./address.ts";

/**
 * The most characters of a host name with its port, and of an origin: a name in the DNS has at most 253 (RFC 1035
 * §2.3.4).
 */
export const MOST_OF_A_HOST = 300;

const HOST_AND_PORT = /^(?:\[([\da-f:.%]+)\]|([^\s:/?#@[\]]+))(?::\d{1,5})?$/;

/**
 * The host name in a `Host` header, or in the authority of a URL, without its port: in lower case,
 * without a final dot, addresses in canonical spelling. `undefined` if it is not a host.
 */
export function hostNameOf(host: string): string | undefined {
  const [, v6, name] = HOST_AND_PORT.exec(host.toLowerCase()) ?? [];
  if (v6 !== undefined) return canonicalAddress(v6);
  return name?.replace(/\.$/, "") || undefined;
}

/** Whether a name or an address, in the form of `hostNameOf`, leads to this machine. */
export function isLoopback(name: string): boolean {
  if (name === "localhost" || name.endsWith(".localhost") || name === "::1") return true;
  return isIPv4(name) && name.startsWith("127.");
}
