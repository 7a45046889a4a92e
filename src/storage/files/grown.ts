/** A copy of an array, twice as long and with room for at least `least` entries. */
export function grown<T extends Float64Array | Int32Array | Uint32Array | Uint8Array>(
  array: T,
  least = 0,
): T {
  const length = Math.max(least, array.length * 2);
  const Type = array.constructor as new (length: number) => T;
  const copy = Buffer.isBuffer(array) ? (Buffer.alloc(length) as unknown as T) : new Type(length);
  copy.set(array as never);
  return copy;
}
