/**
 * Which names the service answers to. A page of any site can make its own name lead to 127.0.0.1 (DNS
 * rebinding); to its browser the service then is that page's own server, and only the `Host` header
 * shows the difference. A service on loopback therefore answers to loopback names alone, and to those
 * that its settings name.
 */
import { canonicalAddress } from "../core/address.ts";
import { hostNameOf, isLoopback } from "../core/host-name.ts";

/** Decides whether a request for this host, as its header gives it, is answered. */
export type HostRule = (host: string) => boolean;

/** Hosts that were found right are known by their text, so that no request pays for taking one apart. */
const MAX_KNOWN = 64;

/** What decides about hosts. */
export interface HostSettings {
  /** The address that is listened on. */
  readonly host: string;
  readonly baseUrl: string | undefined;
  /** As `hostNameOf` gives them. */
  readonly allowedHosts: readonly string[];
}

/** Builds the rule; `undefined` where any host is answered: not on loopback, and none is named. */
export function hostRule({ host, baseUrl, allowedHosts }: HostSettings): HostRule | undefined {
  if (!isLoopback(canonicalAddress(host.toLowerCase())) && allowedHosts.length === 0) {
    return undefined;
  }
  const names = new Set<string | undefined>(allowedHosts);
  if (baseUrl !== undefined) names.add(hostNameOf(new URL(baseUrl).host));
  const known = new Set<string>();
  return (given) => {
    if (known.has(given)) return true;
    const name = hostNameOf(given);
    if (name === undefined || !(isLoopback(name) || names.has(name))) return false;
    if (known.size < MAX_KNOWN) known.add(given);
    return true;
  };
}
