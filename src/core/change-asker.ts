/**
 * The client for which a change is made. A change may wait in the queue of its store behind hundreds of others, and its
 * credentials may end meanwhile. The queue looks here when the turn of the change comes, so the methods of the stores
 * need no parameter for it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Awaitable } from "./caller.ts";

const asking = new AsyncLocalStorage<{ begin: (() => Awaitable<void>) | undefined }>();

/**
 * Makes a change for a client.
 *
 * @param begin called when the turn of the change comes; refuses it by throwing
 */
export function changeFor<T>(begin: () => Awaitable<void>, change: () => Promise<T>): Promise<T> {
  return asking.run({ begin }, change);
}

/**
 * Called when the turn of a change comes. The first call within a change checks the client's credentials; the other
 * parts of a change that has begun are made in any case.
 *
 * @throws the refusal if the credentials have ended, or the service is stopping
 */
export function recheckAsker(): Awaitable<void> {
  const client = asking.getStore();
  if (!client?.begin) return;
  const { begin } = client;
  client.begin = undefined;
  return begin();
}
