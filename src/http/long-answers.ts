/**
 * Bounds how much of long answers begins in one turn of the event loop. The system takes a mebibyte at once, in a part of
 * a millisecond. So when thousands of runtimes get a large policy together, writing all of them in one turn takes a second,
 * in which no other request is served.
 */
import { setImmediate } from "../core/timers.ts";

/** Some milliseconds of writing. */
const BYTES_OF_A_TURN = 8 << 20;

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/** Those that begin in the next turns, in their order. */
let waiting: Waiting[] = [];
/** The bytes that began in this turn. */
let begun = 0;

/** Begins to write an answer: at once, or in a later turn if much was begun in this one. */
export function beginLong(bytes: number, begin: () => void): void {
  if (begun >= BYTES_OF_A_TURN) return void waiting.push({ bytes, begin });
  if (begun === 0) setImmediate(nextTurn);
  begun += bytes;
  begin();
}

function nextTurn(): void {
  begun = 0;
  let count = 0;
  while (begun < BYTES_OF_A_TURN && count < waiting.length) begun += waiting[count++]?.bytes ?? 0;
  if (count === 0) return;
  setImmediate(nextTurn);
  const next = waiting.slice(0, count);
  waiting = waiting.slice(count);
  for (const { begin } of next) begin();
}
