import { BadInput } from "./errors.ts";
import { parseTimestamp } from "./time.ts";

/**
 * Reads a timestamp parameter; `undefined` if it is absent.
 *
 * @returns milliseconds since the epoch
 * @throws BadInput naming the parameter, if it is not an RFC 3339 timestamp
 */
export function readMoment(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = parseTimestamp(given);
  if (ms === undefined) {
    throw new BadInput(
      `${name}: expected an RFC 3339 date and time, such as 2026-01-31T12:00:00Z (a + in a query is %2B)`,
    );
  }
  return ms;
}
