import { isIPv4, isIPv6 } from "node:net";

const MAPPED_GROUP = 0xffff;

/**
 * The canonical spelling of an IP address. IPv4 mapped into IPv6 becomes the IPv4 address; any
 * other IPv6 address is written by RFC 5952, without a zone. Any other text is returned unchanged.
 */
export function canonicalAddress(address: string): string {
  if (!address.includes(":")) return address; // IPv4 has one spelling
  const groups = groupsOf(address);
  if (!groups) return address;
  return mappedAddress(groups) ?? compressed(groups);
}

/**
 * The network by which attempts and shares are counted: an IPv4 address itself, or the /64 of an IPv6 address,
 * since each host of a /64 can choose among 2^64 addresses. Any other text is returned unchanged.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const groups = groupsOf(address);
  if (!groups) return address;
  const mapped = mappedAddress(groups);
  return mapped ?? `${hexOf(groups.slice(0, 4))}::/64`;
}

/**
 * The wider network of an address, of which one party may own many networks: the /24 of an IPv4 address, or
 * the /48 of an IPv6 address.
 */
export function widerNetworkOf(address: string): string {
  const network = networkOf(address);
  if (isIPv4(network)) return network.replace(/\.\d+$/, ".0/24");
  return network.replace(/:[^:]+::\/64$/, "::/48");
}

/** The eight groups of an IPv6 address; `undefined` for anything else. */
function groupsOf(address: string): readonly number[] | undefined {
  if (!isIPv6(address)) return undefined;
  const [bare = ""] = address.split("%", 1);
  const [head = "", tail] = bare.split("::");
  const left = sideOf(head);
  const right = sideOf(tail ?? "");
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<number>(gap).fill(0), ...right];
}

/** The groups on one side of `::`; an IPv4 address at the end makes two groups. */
function sideOf(text: string): readonly number[] {
  return text.split(":").flatMap((group) => {
    if (group === "") return [];
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function mappedAddress(groups: readonly number[]): string | undefined {
  if (groups[5] !== MAPPED_GROUP || groups.slice(0, 5).some((group) => group !== 0))
    return undefined;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join(".");
}

/** Replaces the longest run of zeros by `::`, the first of equal runs (RFC 5952 §4.2). */
function compressed(groups: readonly number[]): string {
  let [start, length] = [0, 1]; // a single zero is not replaced
  for (let i = 0; i < groups.length; i++) {
    let end = i;
    while (groups[end] === 0) end++;
    if (end - i > length) [start, length] = [i, end - i];
  }
  if (length === 1) return hexOf(groups);
  return `${hexOf(groups.slice(0, start))}::${hexOf(groups.slice(start + length))}`;
}

function hexOf(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(":");
}
