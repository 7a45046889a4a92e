import type { LogName } from "../../../signed-logs/store.ts";

/** Called before rows of a log are removed, so that they are leaves of its tree by then. */
export type Removing = (organization: string, log: LogName) => Promise<void>;
