/**
 * Reads lines of the log without making strings or objects of them. A line written by this service has its
 * fields in one order, without white space or duplicates, so one pass over its bytes finds every value,
 * checks that it is valid JSON, and hashes it on the way. The names of fields are compared whole, and a quote
 * within a value is always escaped, so `JSON.parse` reads an accepted line in the same way. A line of any
 * other form is refused; `line-indexer.ts` then parses it.
 */
import { EVENT_FIELDS, type EventFieldName } from "../../../../audit/event-fields.ts";
import { areEqual, bytesBefore, withSpareBytes, specialsIn, hashEnd } from "./byte-words.ts";
import { hashOf, hashWord } from "./byte-words.ts";
import { canonicalTime, TIMESTAMP_BYTES } from "./canonical-time.ts";
import { CODED_FIELDS, CONSUMERS, DECISIONS, packFacets } from "./fields.ts";

/** The place of a field in a line. */
export function placeOf(name: EventFieldName): number {
  return EVENT_FIELDS.findIndex((field) => field.name === name);
}

const ORGANIZATION = placeOf("organization_id");
const TIMESTAMP = placeOf("timestamp");
const INGESTED = placeOf("ingested_at");
const CONSUMER = placeOf("consumer");
const AI = placeOf("ai");
const DECISION = placeOf("policy_decision");

const ID = placeOf("id");
export const COMMAND = placeOf("command");
/** 1 for the places of texts that an index looks up; no other text is hashed. */
const HASHED = new Uint8Array(EVENT_FIELDS.length);
for (const { name } of CODED_FIELDS) HASHED[placeOf(name)] = 1;
for (const place of [ID, COMMAND, placeOf("trace_id")]) HASHED[place] = 1;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const CLOSE = 0x7d;
const ZERO = 0x30;
const FIRST_PRINTABLE = 0x20;
const SHORT_ESCAPES = Buffer.from('"\\/bfnrt', "latin1");

/** The form of each value. All types but these three are texts. */
const [TEXT, TIME, FLAG, NUMBER] = [0, 1, 2, 3] as const;
const FORMS = Uint8Array.from(EVENT_FIELDS, ({ type }) => {
  if (type === "timestamp") return TIME;
  return type === "boolean" ? FLAG : type === "milliseconds" ? NUMBER : TEXT;
});

/** The bytes before each value: the name of the field and, for texts, the opening quote. */
const OPENINGS = EVENT_FIELDS.map(({ name }, place) => {
  const quote = FORMS[place] === FLAG || FORMS[place] === NUMBER ? "" : '"';
  return new TextEncoder().encode(`${place === ID ? "{" : ","}"${name}":${quote}`);
});
/** The same as words, one opening after another, and the index after the last word of each. */
const OPENING_WORDS = Int32Array.from(OPENINGS.flatMap(wordsOf));
const OPENING_ENDS = Uint32Array.from(OPENINGS, (_, place) =>
  OPENINGS.slice(0, place + 1).reduce((sum, { length }) => sum + Math.ceil(length / 4), 0),
);
const OPENING_LENGTHS = Uint32Array.from(OPENINGS, ({ length }) => length);
/** The bits of the last word that belong to an opening. */
const OPENING_MASKS = Int32Array.from(OPENINGS, ({ length }) =>
  length % 4 === 0 ? -1 : ~(-1 << (8 * (length % 4))),
);
const NOTHING: DataView = new DataView(new ArrayBuffer(0));

/** Reads one line after another; its results are valid until the next line. */
export class LineScanner {
  /** The start and the end of each value, by its place in the line; both are 0 if it is absent. */
  readonly starts = new Uint32Array(EVENT_FIELDS.length);
  readonly ends = new Uint32Array(EVENT_FIELDS.length);
  /** The hash of each text that has no escapes and that an index looks up. */
  readonly hashes = new Uint32Array(EVENT_FIELDS.length);
  /** 1 for a text with escapes. */
  readonly escaped = new Uint8Array(EVENT_FIELDS.length);
  /** `timestamp` and `ingested_at` in milliseconds. */
  time = 0;
  ingestedAt = 0;
  /** Decision, consumer and `ai` in one number; see `packFacets`. */
  kind = 0;
  /** The bytes that are read, with some spare bytes at the end. */
  words: DataView = NOTHING;
  #bytes: Buffer = Buffer.alloc(0);
  readonly #organization: Uint8Array;
  readonly #organizationWords: DataView;

  constructor(organization: string) {
    this.#organization = new TextEncoder().encode(organization);
    this.#organizationWords = withSpareBytes(this.#organization);
  }

  /** Begins with new bytes, which are UTF-8 and end in a newline. */
  open(bytes: Buffer): void {
    this.words = withSpareBytes(bytes);
    this.#bytes = bytes;
  }

  /**
   * Reads the line that begins at a place.
   *
   * @returns the end of the line, or -1 if it does not have the form that this service writes
   */
  scan(start: number): number {
    const { words, starts } = this;
    let at = start;
    let word = 0; // of all openings
    for (let place = 0; place < OPENING_ENDS.length; place++) {
      const last = (OPENING_ENDS[place] as number) - 1;
      let from = at;
      while (word < last && OPENING_WORDS[word] === words.getInt32(from, true)) {
        word++;
        from += 4;
      }
      const difference = (OPENING_WORDS[word] as number) ^ words.getInt32(from, true);
      const isHere = word === last && (difference & (OPENING_MASKS[place] as number)) === 0;
      word = last + 1;
      if (!isHere) {
        starts[place] = this.ends[place] = this.escaped[place] = 0;
        continue;
      }
      at += OPENING_LENGTHS[place] as number;
      starts[place] = at;
      at = this.#endOf(place, at);
      if (at === -1) return -1;
    }
    return this.#bytes[at] === CLOSE && this.#understand() ? at + 1 : -1;
  }

  /** A text with its escapes decoded. */
  textOf(place: number): string {
    const text = this.#bytes.toString("utf8", this.starts[place], this.ends[place]);
    return this.escaped[place] === 0 ? text : (JSON.parse(`"${text}"`) as string);
  }

  /** The hash of the line's id. */
  get idHash(): number {
    return this.escaped[ID] === 0 ? (this.hashes[ID] as number) : hashOf(this.textOf(ID));
  }

  /** Records the end of a value; returns the place after it and its quote, or -1. */
  #endOf(place: number, start: number): number {
    const { words } = this;
    const form = FORMS[place];
    if (form === FLAG) return (this.ends[place] = endOfFlag(this.#bytes, start)) || -1;
    if (form === NUMBER) return (this.ends[place] = endOfNumber(this.#bytes, start)) || -1;
    if (form === TIME) return this.#endOfTime(place, start);
    let hash = 0;
    let at = start;
    let word = words.getInt32(at, true);
    let specials = specialsIn(word);
    if (HASHED[place] === 0) {
      while (specials === 0) {
        at += 4;
        word = words.getInt32(at, true);
        specials = specialsIn(word);
      }
    }
    while (specials === 0) {
      hash = hashWord(hash, word);
      at += 4;
      word = words.getInt32(at, true);
      specials = specialsIn(word);
    }
    const left = bytesBefore(specials);
    at += left;
    const byte = words.getUint8(at);
    this.escaped[place] = 0;
    if (byte === BACKSLASH) {
      this.escaped[place] = 1;
      at = endOfEscaped(this.#bytes, at);
      if (at === -1) return -1;
    } else if (byte !== QUOTE) return -1;
    this.hashes[place] = hashEnd(hash, word & ~(-1 << (8 * left)), at - start);
    this.ends[place] = at;
    return at + 1;
  }

  /** Finds the end of a timestamp. The digits are checked when the time is read. */
  #endOfTime(place: number, start: number): number {
    const end = start + TIMESTAMP_BYTES;
    this.ends[place] = end;
    return this.#bytes[end] === QUOTE ? end + 1 : -1;
  }

  /** Reads the values that are not plain texts; `false` if one of them is malformed. */
  #understand(): boolean {
    const { starts, ends, escaped } = this;
    if (!this.#isOrganization() || ends[ID] === 0) return false;
    if (ends[TIMESTAMP] === 0 || ends[INGESTED] === 0) return false;
    this.time = canonicalTime(this.#bytes, starts[TIMESTAMP] as number);
    this.ingestedAt = canonicalTime(this.#bytes, starts[INGESTED] as number);
    if (Number.isNaN(this.time) || Number.isNaN(this.ingestedAt)) return false;
    const consumer = this.#wordOf(CONSUMER, CONSUMERS);
    const policy_decision = this.#wordOf(DECISION, DECISIONS);
    const ai = this.#lengthOf(AI) === "true".length;
    this.kind = packFacets({ consumer, ai, policy_decision });
    return escaped[CONSUMER] === 0 && escaped[DECISION] === 0;
  }

  #isOrganization(): boolean {
    const { length } = this.#organization;
    const start = this.starts[ORGANIZATION] as number;
    return (
      this.#lengthOf(ORGANIZATION) === length &&
      areEqual(this.#organizationWords, 0, this.words, start, length)
    );
  }

  #lengthOf(place: number): number {
    return (this.ends[place] as number) - (this.starts[place] as number);
  }

  /** The known word at a place, without making a string; `undefined` for another text. */
  #wordOf(place: number, known: readonly string[]): string | undefined {
    const start = this.starts[place] as number;
    const length = this.#lengthOf(place);
    for (const word of known) {
      if (word.length === length && isAt(word, this.#bytes, start)) return word;
    }
    return undefined;
  }
}

function wordsOf(bytes: Uint8Array): number[] {
  const words = withSpareBytes(bytes);
  const count = Math.ceil(bytes.length / 4);
  return Array.from({ length: count }, (_, i) => words.getInt32(4 * i, true));
}

function isAt(word: string, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return false;
  return true;
}

/** The closing quote of a text from an escape on; -1 if the escape is not valid JSON. */
function endOfEscaped(bytes: Buffer, from: number): number {
  for (let at = from; ;) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at;
    if (byte < FIRST_PRINTABLE) return -1;
    if (byte !== BACKSLASH) at++;
    else if (bytes[at + 1] === LETTER_U && isHexadecimal(bytes, at + 2)) at += 6;
    else if (SHORT_ESCAPES.includes(bytes[at + 1] as number)) at += 2;
    else return -1;
  }
}

/** Whether four hexadecimal digits follow. A text may have a million escapes, so no string is made of them. */
function isHexadecimal(bytes: Buffer, start: number): boolean {
  for (let at = start; at < start + 4; at++) {
    const byte = bytes[at] as number;
    const lower = byte | 0x20;
    if (!((byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66))) return false;
  }
  return true;
}

/** The end of `true` or `false`; 0 for another value. */
function endOfFlag(bytes: Buffer, at: number): number {
  if (isAt("false", bytes, at)) return at + 5;
  return isAt("true", bytes, at) ? at + 4 : 0;
}

/** The end of a whole number, 0 or more; 0 for another value. */
function endOfNumber(bytes: Buffer, start: number): number {
  let end = start;
  while ((bytes[end] as number) >= ZERO && (bytes[end] as number) <= ZERO + 9) end++;
  const isPadded = bytes[start] === ZERO && end > start + 1;
  return end === start || isPadded ? 0 : end;
}
