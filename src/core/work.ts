/** Work that yields after every small part; `Yielder.run` lets other requests run between the parts. */
export type Work<T> = Generator<undefined, T>;

/** Runs work in one go. Only for a browser or a test, where no other request waits for the thread. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
}
