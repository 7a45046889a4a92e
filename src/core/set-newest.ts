/**
 * Sets a key of a map as the newest one, and drops the oldest one beyond a number of keys: a map keeps the order in which
 * its keys were set.
 */
export function setNewest<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  const [oldest] = map.keys();
  map.delete(oldest as string);
}
