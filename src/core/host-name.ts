/** Host names as settings and the Host header give them. */
import { isIPv4 } from "node:net";
import { canonicalAddress } from "./address.ts";

const HOST_AND_PORT = /^(?:\[([\da-f:.%]+)\]|([^\s:/?#@[\]]+))(?::\d{1,5})?$/;

/**
 * The name in a `Host` header, or in the authority of a URL, without its port: in lower case, without a
 * dot at the end, addresses in their canonical spelling. `undefined` for anything that is not a host.
 */
export function hostNameOf(host: string): string | undefined {
  const [, v6, name] = HOST_AND_PORT.exec(host.toLowerCase()) ?? [];
  if (v6 !== undefined) return canonicalAddress(v6);
  return name?.replace(/\.$/, "") || undefined;
}

/** Whether a name or an address, as `hostNameOf` gives it, leads to the machine itself. */
export function isLoopback(name: string): boolean {
  if (name === "localhost" || name.endsWith(".localhost") || name === "::1") return true;
  return isIPv4(name) && name.startsWith("127.");
}
