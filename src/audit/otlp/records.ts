/** The log records of an OTLP/HTTP request in JSON, as the protocol's own mapping writes them. */
import { BadInput } from "../../core/errors.ts";
import { formatTimestamp } from "../../core/time.ts";
import { isObject, pathOf } from "../../core/validate.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A log record, and the resource that it belongs to. */
export interface LogRecord {
  readonly fields: Fields;
  readonly resource: Attributes;
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
const NANOS = /^\d{1,20}$/;
const NANOS_OF_A_MS = 1_000_000n;

/**
 * Finds the log records of a request.
 *
 * @throws BadInput naming the place that does not follow the protocol
 */
export function logRecordsOf(body: unknown): readonly LogRecord[] {
  if (!isObject(body)) throw new BadInput("The body: expected a JSON object");
  const records: LogRecord[] = [];
  for (const [ofResource, place] of objectsIn(body, "resourceLogs", "")) {
    const resource = resourceOf(ofResource["resource"]);
    for (const [ofScope, inner] of objectsIn(ofResource, "scopeLogs", place)) {
      for (const [fields] of objectsIn(ofScope, "logRecords", inner)) {
        records.push({ fields, resource });
      }
    }
  }
  return records;
}

/** Decodes the attributes of a resource; lists, maps and long texts are left out. */
function resourceOf(resource: unknown): Attributes {
  const all = attributesOf(isObject(resource) ? resource : {});
  const isShort = (value: Plain): boolean =>
    typeof value !== "object" && String(value).length <= LONGEST_OF_RESOURCE;
  return new Map([...all].filter(([, value]) => isShort(value)));
}

/** Decodes the attributes of a record or a resource; malformed ones are left out. */
export function attributesOf(owner: Fields): Attributes {
  return new Map(pairsOf(owner["attributes"]));
}

/** Decodes a value; `null` for an unknown kind. Recursion is safe: bodies nest at most 64 levels. */
function plainOf(value: unknown): Plain {
  if (!isObject(value)) return null;
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } =
    value;
  if (typeof stringValue === "string") return stringValue;
  if (typeof boolValue === "boolean") return boolValue;
  if (typeof intValue === "string" || typeof intValue === "number") return String(intValue);
  if (typeof doubleValue === "number") return doubleValue;
  if (typeof bytesValue === "string") return bytesValue;
  if (isObject(arrayValue) && Array.isArray(arrayValue["values"])) {
    return arrayValue["values"].map(plainOf);
  }
  if (isObject(kvlistValue)) return pairsOf(kvlistValue["values"]);
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

function pairsOf(list: unknown): readonly (readonly [string, Plain])[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) => {
    if (!isObject(one) || typeof one["key"] !== "string") return [];
    return [[one["key"], plainOf(one["value"])] as const];
  });
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
