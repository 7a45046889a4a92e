import type { Awaitable } from "../../../core/caller.ts";

/**
 * Called with the names of files of a log, oldest first, before they are removed; the removal waits for it. Returns those
 * that may be removed now; `undefined` for all of them.
 */
export type Removing = (
  organization: string,
  leaving: readonly string[],
) => Awaitable<readonly string[] | undefined>;
