import type { NamedLog } from "../../../proof/log-name.ts";

/**
 * Called before rows of a log are removed: makes them leaves of its tree, and signs that the log no longer needs them.
 *
 * @param upTo the last row that is about to be removed; if absent, that of the last day that is not shown any more
 * @returns whether they may be removed now
 */
export type Removing = (log: NamedLog, upTo?: number) => Promise<boolean>;
