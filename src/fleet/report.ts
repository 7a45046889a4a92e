import { BadInput } from "../core/errors.ts";
import { bodyOf } from "../core/validate.ts";
import { heartbeat, RUNTIME_NAME, runtimeRegister } from "./schema.ts";

/** The longest name of a runtime, in code points. */
export const MAX_NAME = RUNTIME_NAME.maxLength;

/** The body of a heartbeat. */
export const heartbeatBody = bodyOf(heartbeat, withCheckedName);

/** The body of a registration. */
export const registerBody = bodyOf(runtimeRegister, withCheckedName);

function withCheckedName<T extends { readonly name: string }>(report: T): T {
  const name = checkedName(report.name);
  return name === report.name ? report : { ...report, name };
}

/**
 * Removes the white space around a runtime's name.
 *
 * @throws BadInput if nothing is left, or more than 256 code points
 */
export function checkedName(given: string): string {
  const name = given.trim();
  if (name === "") throw new BadInput("name: required");
  // A code point takes at most two units, so most names need no counting.
  const isLong =
    name.length > MAX_NAME && (name.length > 2 * MAX_NAME || [...name].length > MAX_NAME);
  if (isLong) throw new BadInput(`name: expected at most ${MAX_NAME} characters`);
  return name;
}
