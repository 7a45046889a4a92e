/**
 * The service's time: what it said when it made the page, and what has passed since. The reader's
 * own clock may be wrong, and "3 min ago" would be with it.
 */

/** Milliseconds since the epoch, as the service counts them. */
export function serviceNow(): number {
  return Number(document.body.dataset["now"]) + performance.now();
}
