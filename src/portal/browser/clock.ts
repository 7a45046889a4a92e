/**
 * The service's time: the time of the page plus the time since it was loaded. The reader's own clock may
 * be wrong, which would make "3 min ago" wrong, too.
 */

/** Milliseconds since the epoch by the service's clock. */
export function serviceNow(): number {
  return Number(document.body.dataset["now"]) + performance.now();
}
