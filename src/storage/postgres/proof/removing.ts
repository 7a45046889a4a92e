import type { NamedLog } from "../../../proof/log-name.ts";

/** Called before rows of a log are removed, so that they are leaves of its tree by then. */
export type Removing = (log: NamedLog) => Promise<void>;
