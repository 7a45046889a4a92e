/** Limits the writes of an address on the open surface of a demo. */
import { networkOf } from "../core/address.ts";
import { MINUTE_MS, SECOND_MS, type Clock } from "../core/clock.ts";
import { TooMany } from "../core/errors.ts";
import type { RouteDescription, Surface } from "../http/route.ts";

/** Counts a request before it is processed; throws `TooMany` if it exceeds the limit. */
export type CountWrite = (row: RouteDescription, surface: Surface, address: string) => void;

// These rows change nothing, and trying things out is the purpose of a demo. Their work is bounded: it runs in
// another thread, or in counted steps. A trial of redaction has no such bound, so it counts as a write.
const QUESTIONS: ReadonlySet<string> = new Set([
  "/policies/validate",
  "/policies/simulate",
  "/policies/draft-rule",
  "/policies/replay",
]);

/**
 * Ten thousand addresses at the limit of 120 take 10 MB; at the limit the one that wrote longest
 * ago is dropped.
 */
const MAX_ADDRESSES = 10_000;

/** Limits the writes of each address (for IPv6: of each /64) within any minute. */
export function createWriteLimit(perMinute: number, now: Clock): CountWrite {
  // The times of each address's writes within the last minute, oldest first; addresses in the order
  // of their last write.
  const writes = new Map<string, number[]>();
  return ({ method, path }, surface, address) => {
    if (surface !== "public" || method === "GET" || QUESTIONS.has(path)) return;
    const at = now();
    const network = networkOf(address);
    const recent = (writes.get(network) ?? []).filter((time) => at - time < MINUTE_MS);
    const oldest = recent[recent.length - perMinute];
    if (oldest !== undefined) {
      const seconds = Math.max(1, Math.ceil((oldest + MINUTE_MS - at) / SECOND_MS));
      throw new TooMany(
        `The demo takes ${perMinute} writes a minute from one address: try again later`,
        seconds,
      );
    }
    recent.push(at);
    writes.delete(network); // inserted again below as the newest: a Map keeps the order of insertion
    writes.set(network, recent);
    forgetOld(writes, at);
  };
}

function forgetOld(writes: Map<string, number[]>, at: number): void {
  for (const [network, times] of writes) {
    const isOver = at - (times.at(-1) ?? 0) >= MINUTE_MS;
    if (!isOver && writes.size <= MAX_ADDRESSES) return;
    writes.delete(network);
  }
}
