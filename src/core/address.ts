import { isIPv4, isIPv6 } from "node:net";

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * The part of an IP address that stands for one caller when attempts are counted: an IPv4 address
 * itself (also one that is mapped into IPv6), and the /64 of an IPv6 address, since every host there
 * may pick among 2^64 of them. Anything else is returned as it is.
 */
export function networkOf(address: string): string {
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (!isIPv6(address)) return address;
  const [head = "", tail = ""] = (address.split("%", 1)[0] ?? "").split("::");
  const left = head.split(":").filter(Boolean);
  const right = tail.split(":").filter(Boolean);
  // An embedded IPv4 address at the end stands for two groups; none of it is in the first four.
  const given = left.length + right.length + (address.includes(".") ? 1 : 0);
  const gap = address.includes("::") ? Array<string>(Math.max(8 - given, 0)).fill("0") : [];
  const groups = [...left, ...gap, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
