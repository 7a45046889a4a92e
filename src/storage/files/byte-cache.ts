/** The approximate size of an entry without its key and value. */
const ENTRY_BYTES = 256;

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** Caches values up to a number of bytes; the least recently used ones are dropped first. */
export class ByteCache<Value> {
  readonly #limit: number;
  readonly #entries = new Map<string, Entry<Value>>(); // the most recently used one comes last
  #bytes = 0;

  constructor(limit = 16 << 20) {
    this.#limit = limit;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value that takes some bytes, unless one is kept already. */
  keep(key: string, value: Value, bytes: number): void {
    if (this.#entries.has(key)) return;
    const entry = { value, bytes: bytes + 2 * key.length + ENTRY_BYTES };
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    for (const [oldest, dropped] of this.#entries) {
      if (this.#bytes <= this.#limit) return;
      this.#entries.delete(oldest);
      this.#bytes -= dropped.bytes;
    }
  }
}
