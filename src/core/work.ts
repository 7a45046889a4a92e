/** Work that yields after every small part: `Pace.run` lets others go on between the parts. */
export type Work<T> = Generator<undefined, T>;

/** Does work in one go, where no other request waits for the thread: in a browser, or in a test. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
}
