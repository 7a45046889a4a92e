import { Unavailable } from "../core/errors.ts";

/** The refusal of an answer that lacks events, since retention removed them while they were read. */
export function removedMeanwhile(reason: string): Unavailable {
  const message = "Some of the events were removed while they were read: try again";
  return Object.assign(new Unavailable(message, 1), { cause: new Error(reason) });
}
