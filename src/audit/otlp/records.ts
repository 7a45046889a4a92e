/** The log records of an OTLP/HTTP request in JSON, as the protocol's own mapping writes them. */
import { BadInput } from "../../core/errors.ts";
import { formatTimestamp } from "../../core/time.ts";
import { isObject, pathOf } from "../../core/validate.ts";
import type { Work } from "../../core/scheduling/work.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A log record, and the resource that it belongs to. */
export interface LogRecord {
  readonly fields: Fields;
  /** `undefined` if it has too many attributes. */
  readonly resource: Attributes | undefined;
}

/** A decoded value. Integers are texts, since OTLP sends them as numbers or texts. A map is a list of pairs. */
export type Plain = string | boolean | number | null | readonly Plain[];
/** Decoded attributes by name. */
export type Attributes = ReadonlyMap<string, Plain>;

/**
 * The longest text of a resource that is read, in characters. Each of its records repeats the text, so a request with a
 * long one would be stored at a thousand times its size.
 */
export const LONGEST_OF_RESOURCE = 256;
/**
 * The most attributes of a record or a resource, with the values in their lists and maps; SDKs keep 128 unless told
 * otherwise. They are read in one step, and decide the id of the event.
 */
export const MOST_ATTRIBUTES = 1_000;
const NANOS = /^\d{1,20}$/;
const NANOS_OF_A_MS = 1_000_000n;

/** The number of records of a request, and of its resources, scopes and records together. */
export function sizeOf(body: Fields): { readonly records: number; readonly parts: number } {
  let records = 0;
  let parts = 0;
  for (const ofResource of membersOf(body, "resourceLogs")) {
    parts++;
    for (const ofScope of membersOf(ofResource, "scopeLogs")) {
      parts++;
      records += membersOf(ofScope, "logRecords").length;
    }
  }
  return { records, parts: parts + records };
}

/**
 * Finds the log records of a request, in small parts: half a mebibyte can hold 170,000 empty resources.
 *
 * @throws BadInput naming the place that does not follow the protocol
 */
export function* logRecordsOf(body: Fields): Work<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for (const [ofResource, place] of objectsIn(body, "resourceLogs", "")) {
    const resource = resourceOf(ofResource["resource"]);
    yield;
    for (const [ofScope, inner] of objectsIn(ofResource, "scopeLogs", place)) {
      yield;
      for (const [fields] of objectsIn(ofScope, "logRecords", inner)) {
        records.push({ fields, resource });
        yield;
      }
    }
  }
  return records;
}

/** Decodes the attributes of a resource; lists, maps and long texts are left out. */
function resourceOf(resource: unknown): Attributes | undefined {
  const all = attributesOf(isObject(resource) ? resource : {});
  if (all === undefined || all.size === 0) return all;
  const isShort = (value: Plain): boolean =>
    typeof value !== "object" && String(value).length <= LONGEST_OF_RESOURCE;
  return new Map([...all].filter(([, value]) => isShort(value)));
}

/** Decodes the attributes of a record or a resource; malformed ones are left out. `undefined` if there are too many. */
export function attributesOf(owner: Fields): Attributes | undefined {
  const room = { left: MOST_ATTRIBUTES };
  const pairs = pairsOf(owner["attributes"], room);
  return room.left < 0 ? undefined : new Map(pairs);
}

/** The number of values that may still be decoded; below 0 there were too many. */
interface Room {
  left: number;
}

/** The values of a list; none if it is not a list, or there is no room for them. */
function takeList(list: unknown, room: Room): readonly unknown[] {
  if (!Array.isArray(list)) return [];
  room.left -= list.length;
  return room.left < 0 ? [] : list;
}

/** Decodes a value; `null` for an unknown kind. Recursion is safe: bodies nest at most 64 levels. */
function plainOf(value: unknown, room: Room): Plain {
  if (!isObject(value)) return null;
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } =
    value;
  if (typeof stringValue === "string") return stringValue;
  if (typeof boolValue === "boolean") return boolValue;
  if (typeof intValue === "string" || typeof intValue === "number") return String(intValue);
  if (typeof doubleValue === "number") return doubleValue;
  if (typeof bytesValue === "string") return bytesValue;
  if (isObject(arrayValue) && Array.isArray(arrayValue["values"])) {
    return takeList(arrayValue["values"], room).map((one) => plainOf(one, room));
  }
  if (isObject(kvlistValue)) return pairsOf(kvlistValue["values"], room);
  return null;
}

/** The moment of a record in RFC 3339; `undefined` if it has none. */
export function momentOf({ timeUnixNano, observedTimeUnixNano }: Fields): string | undefined {
  return fromNanos(timeUnixNano) ?? fromNanos(observedTimeUnixNano);
}

function fromNanos(nanos: unknown): string | undefined {
  const digits = typeof nanos === "number" ? String(nanos) : nanos;
  if (typeof digits !== "string" || !NANOS.test(digits)) return undefined;
  const ms = Number(BigInt(digits) / NANOS_OF_A_MS);
  return ms > 0 ? formatTimestamp(ms) : undefined;
}

function pairsOf(list: unknown, room: Room): readonly (readonly [string, Plain])[] {
  return takeList(list, room).flatMap((one: unknown) => {
    if (!isObject(one) || typeof one["key"] !== "string") return [];
    return [[one["key"], plainOf(one["value"], room)] as const];
  });
}

/** The members of a list in an object; none if there is no such list. */
function membersOf(owner: unknown, name: string): readonly unknown[] {
  const list = isObject(owner) ? owner[name] : undefined;
  return Array.isArray(list) ? list : [];
}

/** The objects of a list, each with its place; an absent list is empty. */
function* objectsIn(
  owner: Fields,
  name: string,
  parent: string,
): Generator<readonly [Fields, string]> {
  const list = owner[name] ?? [];
  const place = pathOf(parent, name);
  if (!Array.isArray(list)) throw new BadInput(`${place}: expected a list`);
  for (const [i, one] of (list as readonly unknown[]).entries()) {
    if (!isObject(one)) throw new BadInput(`${place}[${i}]: expected an object`);
    yield [one, `${place}[${i}]`];
  }
}
