/**
 * A dictionary of a sealed segment whose texts stay on disk. Runtimes choose the values of fields: with a long
 * text of its own in each event, the texts of a log would fill the memory. Here each value takes 28 bytes in
 * memory, however long it is: its digest, its code, and the end of its text.
 */
import { createHash } from "node:crypto";
import { LONGEST_LISTED } from "../../../../audit/facets.ts";
import type { Work } from "../../../../core/scheduling/work.ts";
import type { Yielder } from "../../../../core/scheduling/yielder.ts";
import type { OnDemandSections } from "../sidecar/on-demand-sections.ts";
import type { Dictionary, ValueTest } from "./dictionary.ts";
import type { CodedName } from "./fields.ts";
import { sortedByKey } from "./sorting.ts";

/** The 32-bit words of a digest. With 128 bits, texts of one digest cannot be found, even on purpose. */
const WORDS = 4;
const TEXTS_AT_ONCE = 64;
/** The bytes of texts that are read at once, unless one text is longer. */
const BYTES_AT_ONCE = 64 << 10;
/** No listed value is longer in UTF-8. */
const LONGEST_LISTED_BYTES = 3 * LONGEST_LISTED;

/** The columns of a dictionary whose texts are in the section `<name>.texts`. */
export interface StoredColumns {
  /** The digests, ascending. */
  readonly digests: Uint32Array;
  /** The code of each digest. */
  readonly digestCodes: Uint32Array;
  /** The ends of the texts, by code. */
  readonly textEnds: Uint32Array;
}

/** A dictionary that reads its texts on demand. */
export class StoredDictionary implements Dictionary {
  readonly #section: string;
  readonly #columns: StoredColumns;
  readonly #rest: OnDemandSections;

  constructor(name: CodedName, columns: StoredColumns, rest: OnDemandSections) {
    this.#section = `${name}.texts`;
    this.#columns = columns;
    this.#rest = rest;
  }

  get size(): number {
    return this.#columns.digestCodes.length;
  }

  codeOf(value: string): number | undefined {
    const { digests, digestCodes } = this.#columns;
    const wanted = digestOf(value);
    let low = 0;
    let high = digestCodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compare(digests, middle, wanted, 0);
      if (order === 0) return digestCodes[middle];
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  async matching(test: ValueTest, yielder: Yielder): Promise<readonly number[]> {
    const { textEnds } = this.#columns;
    const endOf = (code: number): number => textEnds[code - 1] ?? 0;
    const found: number[] = [];
    for (let code = 1; code <= this.size;) {
      const start = endOf(code - 1);
      let last = code;
      while (last < this.size && endOf(last + 1) - start <= BYTES_AT_ONCE) last++;
      const bytes = await this.#rest.read(this.#section, start, endOf(last));
      for (; code <= last; code++) {
        const value = bytes.toString("utf8", endOf(code - 1) - start, endOf(code) - start);
        if (test(value)) found.push(code);
      }
      if (yielder.isDue) await yielder.step();
    }
    return found;
  }

  async listedValueOf(code: number): Promise<string> {
    const { textEnds } = this.#columns;
    const [start = 0, end = 0] = [textEnds[code - 2], textEnds[code - 1]];
    if (end - start > LONGEST_LISTED_BYTES) return "";
    return (await this.#rest.read(this.#section, start, end)).toString("utf8");
  }
}

/** Makes the digests of texts, in their order, and the code of each. */
export function* digestsOf(
  values: readonly string[],
): Work<Pick<StoredColumns, "digests" | "digestCodes">> {
  const made = new Uint32Array(values.length * WORDS);
  for (const [i, value] of values.entries()) {
    made.set(digestOf(value), i * WORDS);
    if (i % TEXTS_AT_ONCE === 0) yield;
  }
  // By their first words; the few with the same first word are put in order afterwards.
  const order = sortedByKey(0, values.length, (i) => made[i * WORDS] as number);
  for (let at = 1; at < order.length; at++) {
    for (let i = at; i > 0; i--) {
      const [before, after] = [order[i - 1] as number, order[i] as number];
      if (compare(made, before, made, after) <= 0) break;
      order[i - 1] = after;
      order[i] = before;
    }
  }
  yield;
  const digests = new Uint32Array(made.length);
  order.forEach((i, place) => {
    digests.set(made.subarray(i * WORDS, (i + 1) * WORDS), place * WORDS);
  });
  return { digests, digestCodes: order.map((i) => i + 1) };
}

function digestOf(value: string): Uint32Array {
  const digest = createHash("sha256").update(value, "utf8").digest();
  return Uint32Array.from({ length: WORDS }, (_, i) => digest.readUInt32LE(4 * i));
}

/** Compares digest `i` of a list with digest `j` of another. */
function compare(a: Uint32Array, i: number, b: Uint32Array, j: number): number {
  for (let word = 0; word < WORDS; word++) {
    const difference = (a[i * WORDS + word] as number) - (b[j * WORDS + word] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
