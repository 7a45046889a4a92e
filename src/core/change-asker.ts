/**
 * The client for which a change is made. A change may wait in the queue of its store behind hundreds of others, and its
 * credentials may end meanwhile. The queue looks here when the turn of the change comes, so the methods of the stores
 * need no parameter for it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Asker } from "./turns.ts";

const asking = new AsyncLocalStorage<{ recheck: Asker["recheck"] }>();

/** Makes a change for a client. */
export function changeFor<T>(asker: Asker | undefined, change: () => Promise<T>): Promise<T> {
  return asking.run({ recheck: asker?.recheck?.bind(asker) }, change);
}

/**
 * Called when the turn of a change comes. The first call within a change checks the client's credentials; the other
 * parts of a change that has begun are made in any case.
 *
 * @throws the refusal if the credentials have ended
 */
export async function recheckAsker(): Promise<void> {
  const client = asking.getStore();
  if (!client?.recheck) return;
  const { recheck } = client;
  client.recheck = undefined;
  await recheck();
}
