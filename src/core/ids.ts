import { randomBytes } from "node:crypto";
import type { Clock } from "./clock.ts";

/** Makes an id that no other call returns. Injected, as clocks are. */
export type IdSource = () => string;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32 keeps the order of its digits
const COUNTER_LIMIT = 32 ** 4;

/**
 * Creates a source of ids that sort by the time they were made: 10 digits of milliseconds, 4 of a
 * counter within the millisecond, and 12 random ones drawn once, which keep processes apart. A
 * clock that runs backwards is not followed, so the order holds within a process.
 */
export function createIds(now: Clock): IdSource {
  const suffix = Array.from(randomBytes(12), (byte) => ALPHABET[byte % 32]).join("");
  let lastMs = 0;
  let prefix = digits(lastMs, 10);
  let counter = 0;
  let head = ""; // all but the last digit of the counter, which changes each time
  return () => {
    const ms = now();
    if (ms > lastMs || counter === COUNTER_LIMIT) {
      lastMs = Math.max(ms, lastMs + 1);
      prefix = digits(lastMs, 10);
      counter = 0;
    }
    const digit = counter % 32;
    if (digit === 0) head = prefix + digits(counter / 32, 3);
    counter++;
    return head + ALPHABET.charAt(digit) + suffix;
  };
}

function digits(value: number, width: number): string {
  let text = "";
  for (let rest = value; text.length < width; rest = Math.floor(rest / 32)) {
    text = ALPHABET.charAt(rest % 32) + text;
  }
  return text;
}
