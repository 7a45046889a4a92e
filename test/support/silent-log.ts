import { createLog } from "../../src/core/log.ts";

/** A log that writes nothing. */
export const silent = createLog(
  "silent",
  () => 0,
  () => {},
);
