import { BadInput } from "../core/errors.ts";
import { checkedLabels } from "../core/labels.ts";
import { bodyOf } from "../core/validate.ts";
import { heartbeat, type Heartbeat, RUNTIME_NAME, runtimeRegister } from "./schema.ts";

/** The longest name of a runtime, in code points. */
const MAX_NAME = RUNTIME_NAME.maxLength;

/** The body of a heartbeat. */
export const heartbeatBody = bodyOf(heartbeat, checked);

/** The body of a registration. */
export const registerBody = bodyOf(runtimeRegister, checked);

/** Checks the fields that have rules beyond their schemas. */
function checked<T extends Pick<Heartbeat, "name" | "labels">>(report: T): T {
  const name = checkedName(report.name);
  const named = name === report.name ? report : { ...report, name };
  if (report.labels === undefined) return named;
  return { ...named, labels: checkedLabels(report.labels, "labels") };
}

/**
 * Removes the white space around a runtime's name.
 *
 * @throws BadInput if nothing is left, or more than 256 code points
 */
function checkedName(given: string): string {
  const name = given.trim();
  if (name === "") throw new BadInput("name: required");
  // A code point takes at most two units, so most names need no counting.
  const isLong =
    name.length > MAX_NAME && (name.length > 2 * MAX_NAME || [...name].length > MAX_NAME);
  if (isLong) throw new BadInput(`name: expected at most ${MAX_NAME} characters`);
  return name;
}
