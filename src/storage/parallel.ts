const AT_ONCE = 64;

/** Runs a task for every item, 64 at a time, in no particular order; the first failure ends it. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values(); // shared: each worker takes the next one
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
}
