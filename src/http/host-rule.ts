/**
 * The host names that the service answers to. Any site can make its own name resolve to 127.0.0.1
 * (DNS rebinding). The browser then treats the service as that site's own server, and only the
 * `Host` header shows the difference. So a service that is bound to loopback answers only to
 * loopback names and to the names in its settings.
 */
import { isIP } from "node:net";
import { canonicalAddress } from "../core/address.ts";
import { hostNameOf, isLoopback, MOST_OF_A_HOST } from "../core/host-name.ts";

/** Decides whether a request with this `Host` header is answered. */
export type HostRule = (host: string) => boolean;

/** The most allowed hosts that are cached as they were sent, so that most requests need no parsing. */
const MAX_KNOWN = 64;

/** The settings that concern host names. */
export interface HostSettings {
  /** The address to listen on, as configured. */
  readonly host: string;
  readonly baseUrl: string | undefined;
  /** In the form that `hostNameOf` returns. */
  readonly allowedHosts: readonly string[];
}

/**
 * Builds the rule. It allows any host when the service is not bound to loopback and no host is configured.
 *
 * @param boundTo gives the address of the listening socket. The text of `host` cannot decide: `127.1` and
 *   `2130706433` are spellings of 127.0.0.1, and a host name may resolve to it
 */
export function hostRule(
  { host, baseUrl, allowedHosts }: HostSettings,
  boundTo: () => string,
): HostRule {
  const names = new Set<string | undefined>(allowedHosts);
  if (baseUrl !== undefined) names.add(hostNameOf(new URL(baseUrl).host));
  if (isIP(host) === 0) names.add(hostNameOf(host));
  const known = new Set<string>();
  let isOpen: boolean | undefined; // unknown until the service listens
  return (given) => {
    isOpen ??= allowedHosts.length === 0 && !isLoopback(canonicalAddress(boundTo()));
    if (isOpen) return true;
    if (given.length > MOST_OF_A_HOST) return false; // 16 KiB take 0.1 ms to read
    if (known.has(given)) return true;
    const name = hostNameOf(given);
    if (name === undefined || !(isLoopback(name) || names.has(name))) return false;
    if (known.size < MAX_KNOWN) known.add(given);
    return true;
  };
}
