import { randomFillSync } from "node:crypto";
import type { Clock } from "./clock.ts";

/** Makes an id that no other call returns. Injected, like clocks. */
export type IdSource = () => string;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32 keeps the order of its digits
const CODES = Uint8Array.from(ALPHABET, (digit) => digit.charCodeAt(0));
const COUNTER_LIMIT = 32 ** 3;
const RANDOM_DIGITS = 13;
const POOLED_IDS = 512;

/**
 * Creates a source of ids that sort by their time of creation: 10 digits of milliseconds, 3 of a counter
 * within the millisecond, and 13 random ones (65 bits) drawn for each id, so that a known id does not
 * reveal the next ones. A clock that runs backwards is ignored, so the order holds within a process.
 */
export function createIds(now: Clock): IdSource {
  const random = createRandomDigits();
  let lastMs = 0;
  let prefix = digits(lastMs, 10);
  let counter = 0;
  let head = ""; // all digits before the counter's last digit, which changes with each id
  return () => {
    const ms = now();
    if (ms > lastMs || counter === COUNTER_LIMIT) {
      lastMs = Math.max(ms, lastMs + 1);
      prefix = digits(lastMs, 10);
      counter = 0;
    }
    const digit = counter % 32;
    if (digit === 0) head = prefix + digits(counter / 32, 2);
    counter++;
    return head + random(CODES[digit] as number);
  };
}

/**
 * Appends 13 random digits to a first digit. The random bytes come from a pool, since a system call for
 * each id would cost more than all other work. One call of `fromCharCode` makes a flat string, which V8
 * need not flatten later.
 */
function createRandomDigits(): (first: number) => string {
  const pool = new Uint8Array(POOLED_IDS * RANDOM_DIGITS);
  let at = pool.length;
  const next = (): number => CODES[(pool[at++] as number) & 31] as number;
  return (first) => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    // oxfmt-ignore
    return String.fromCharCode(first, next(), next(), next(), next(), next(), next(), next(),
      next(), next(), next(), next(), next(), next());
  };
}

function digits(value: number, width: number): string {
  let text = "";
  for (let rest = value; text.length < width; rest = Math.floor(rest / 32)) {
    text = ALPHABET.charAt(rest % 32) + text;
  }
  return text;
}
