import { BadInput } from "./errors.ts";
import type { ArraySchema, Infer, ObjectSchema, Schema } from "./schema.ts";

/**
 * Validates an untrusted value by a schema, and returns a copy with only the known properties that are
 * present. `null` counts as absent, and so does `""` for an optional string, where the schema is not strict.
 * Unknown properties are ignored there, so `__proto__` and the like have no effect.
 *
 * @param place the name of the value's place in messages; `""` for the body itself
 * @throws BadInput naming the first invalid place, and what was expected there
 */
export function validate<const S extends Schema>(schema: S, value: unknown, place = ""): Infer<S> {
  return readValue(schema, value, place) as Infer<S>;
}

/** A request body with rules beyond its schema: `read` takes the validated body, and throws `BadInput`. */
export function bodyOf<const S extends Schema, T>(schema: S, read: (given: Infer<S>) => T) {
  return { schema, read: (value: unknown) => read(validate(schema, value)) };
}

/** Joins a place and a property name: `events[2]` and `consumer` give `events[2].consumer`. */
export function pathOf(parent: string, name: string): string {
  return parent === "" ? name : `${parent}.${name}`;
}

/** Like `validate`, for a schema that is not known until run time. */
export function readValue(schema: Schema, value: unknown, place: string): unknown {
  if ("anyOf" in schema) return readAny(schema.anyOf, value, place);
  switch (schema.type) {
    case "object":
      return readObject(schema, value, place);
    case "array":
      return readArray(schema, value, place);
    case "boolean":
      return typeof value === "boolean" ? value : refuse(place, "expected true or false");
    case "integer": {
      if (!Number.isSafeInteger(value)) refuse(place, "expected a whole number");
      const number = value as number;
      const { minimum = -Infinity, maximum = Infinity } = schema;
      if (number < minimum) refuse(place, `expected at least ${minimum}`);
      if (number > maximum) refuse(place, `expected at most ${maximum}`);
      return number;
    }
    case "string": {
      if (typeof value !== "string") return refuse(place, "expected a string");
      if (schema.enum && !schema.enum.includes(value))
        refuse(place, `expected ${oneOf(schema.enum)}`);
      const { maxLength = Infinity } = schema;
      if (value.length > maxLength) refuse(place, `expected at most ${maxLength} characters`);
      return value;
    }
    default:
      if (typeof value !== "string" && value !== null) refuse(place, "expected a string or null");
      return value;
  }
}

function readObject(schema: ObjectSchema, value: unknown, place: string): unknown {
  if (!isObject(value)) return refuse(place, "expected a JSON object");
  const { properties, required = [], strict } = schema;
  if (!properties) return readMap(schema, value, place);
  if (strict) refuseUnknown(properties, value, place);
  const clean: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const isRequired = required.includes(name);
    const isStrict = (strict ?? property.strict) && !isRequired;
    if (given === undefined || (!isStrict && (given === null || given === ""))) {
      // An empty text counts as absent only for a string; for any other type it is an invalid value.
      const absent = given !== "" || ("type" in property && property.type === "string");
      if (!absent) readValue(property, given, pathOf(place, name));
      if (isRequired) refuse(pathOf(place, name), "required");
    } else {
      clean[name] = readValue(property, given, pathOf(place, name));
    }
  }
  return clean;
}

/**
 * Refuses an object with a property that is not among the known ones.
 *
 * @throws BadInput naming the property, and the known ones
 */
export function refuseUnknown(properties: object, given: object, place: string): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(properties, name));
  if (unknown === undefined) return;
  refuse(pathOf(place, unknown), `unknown key, expected ${oneOf(Object.keys(properties))}`);
}

/** Reads no more values than a map may have, since a body can hold 40,000. */
function readMap(
  {
    additionalProperties: values,
    minProperties,
    maxProperties: most = Infinity,
    strict,
  }: ObjectSchema,
  given: Readonly<Record<string, unknown>>,
  place: string,
): unknown {
  if (values === true || values === undefined) return given;
  const pairs: [string, unknown][] = [];
  for (const key of Object.keys(given)) {
    if (given[key] === null && !strict) continue;
    if (pairs.length === most) refuse(place, `expected at most ${most}`);
    pairs.push([key, readValue(values, given[key], pathOf(place, key))]);
  }
  if (minProperties && pairs.length === 0) refuse(place, "expected at least one");
  return Object.fromEntries(pairs);
}

function readArray(schema: ArraySchema, value: unknown, place: string): unknown {
  if (!Array.isArray(value)) return refuse(place, "expected a list");
  const { minItems, maxItems = Infinity } = schema;
  if (minItems && value.length === 0) refuse(place, "expected at least one");
  if (value.length > maxItems) refuse(place, `expected at most ${maxItems} items`);
  return value.map((item, index) => readValue(schema.items, item, `${place}[${index}]`));
}

function readAny(schemas: readonly Schema[], value: unknown, place: string): unknown {
  let first: unknown;
  for (const schema of schemas) {
    try {
      return readValue(schema, value, place);
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}

/** Whether a parsed JSON value is an object, not a list and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Lists words for a message: `human, ai or ci`. */
export function oneOf(words: readonly string[], last: "or" | "and" = "or"): string {
  const head = words.slice(0, -1).join(", ");
  return head === "" ? words.join("") : `${head} ${last} ${words.at(-1)}`;
}

function refuse(place: string, expectation: string): never {
  throw new BadInput(place === "" ? `The body: ${expectation}` : `${place}: ${expectation}`);
}
