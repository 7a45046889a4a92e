/** Work that yields after every small part; `Yielder.run` lets other requests run between the parts. */
export type Work<T> = Generator<undefined, T>;

/** Runs work in one go. Only for a browser or a test, where no other request waits for the thread. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
}

/** Runs work in one go until it ends or is late; `undefined` if it is late. */
export function finishInTime<T>(work: Work<T>, isLate: () => boolean): T | undefined {
  while (!isLate()) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
  return undefined;
}
