import { BadInput } from "../core/errors.ts";
import type { ArraySchema, IntegerSchema, StringSchema } from "../core/schema.ts";
import { oneOf } from "../core/validate.ts";

/**
 * A query parameter. A `forgiving` parameter accepts any value: a whole number out of range is
 * clamped, anything else gives the default. Otherwise an invalid value gives a 400.
 */
export type QueryParameter =
  | (StringSchema & { readonly forgiving?: true })
  | (IntegerSchema & { readonly forgiving?: true })
  | ListParameter;

/** A parameter that may be repeated: `label=env:staging&label=team:web`. */
interface ListParameter extends ArraySchema {
  readonly items: StringSchema;
  readonly maxItems: number;
  readonly forgiving?: never;
}

export type QueryParameters = Readonly<Record<string, QueryParameter>>;

/** The values of the declared parameters. */
export type QueryOf<Q extends QueryParameters> = {
  readonly [K in keyof Q]: Q[K] extends { readonly default: string | number }
    ? ValueOf<Q[K]>
    : ValueOf<Q[K]> | undefined;
};

type ValueOf<P> = P extends { readonly type: "integer" }
  ? number
  : P extends { readonly type: "array" }
    ? readonly string[]
    : P extends { readonly enum: readonly (infer V)[]; readonly forgiving?: never }
      ? V
      : string;

type Value = string | number | readonly string[] | undefined;
type Values = Readonly<Record<string, Value>>;

// Runtimes send the same query repeatedly, so the last query of each row is cached.
const latest = new WeakMap<QueryParameters, { readonly search: string; readonly values: Values }>();

/**
 * Reads the declared parameters of a query string, and ignores others. An empty parameter counts as
 * absent. If a parameter that is not a list is repeated, its first value counts.
 *
 * @param search the raw query, without its `?`
 * @throws BadInput for an invalid value of a parameter that is not forgiving; it names the parameter
 */
export function readQuery<const Q extends QueryParameters>(
  parameters: Q,
  search: string,
): QueryOf<Q> {
  const known = latest.get(parameters);
  const values =
    known?.search === search ? known.values : Object.freeze(readValues(parameters, search));
  if (values !== known?.values) latest.set(parameters, { search, values });
  return values as QueryOf<Q>;
}

function readValues(parameters: QueryParameters, search: string): Values {
  const given = search === "" ? undefined : new URLSearchParams(search);
  const values: Record<string, Value> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    if (parameter.type === "array") {
      values[name] = readList(name, parameter, given?.getAll(name) ?? []);
      continue;
    }
    const text = given?.get(name) ?? "";
    values[name] = text === "" ? parameter.default : readParameter(name, parameter, text);
  }
  return values;
}

function readList(
  name: string,
  { maxItems }: ListParameter,
  given: readonly string[],
): readonly string[] | undefined {
  const texts = given.filter((text) => text !== "");
  if (texts.length > maxItems) throw new BadInput(`${name}: expected at most ${maxItems}`);
  return texts.length > 0 ? Object.freeze(texts) : undefined;
}

function readParameter(
  name: string,
  parameter: Exclude<QueryParameter, ListParameter>,
  text: string,
): string | number | undefined {
  if (parameter.type === "string") {
    const fits = !parameter.enum || parameter.enum.includes(text);
    if (!fits && !parameter.forgiving) {
      throw new BadInput(`${name}: expected ${oneOf(parameter.enum ?? [])}`);
    }
    return text;
  }
  const { minimum = -Infinity, maximum = Infinity } = parameter;
  const isWhole = /^[+-]?\d+$/.test(text);
  if (parameter.forgiving) {
    if (!isWhole) return parameter.default;
    const least = Math.max(minimum, Number.MIN_SAFE_INTEGER);
    return Math.min(Math.max(Number(text), least), maximum, Number.MAX_SAFE_INTEGER);
  }
  const value = isWhole ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < minimum || value > maximum) {
    throw new BadInput(`${name}: expected a whole number${rangeText(minimum, maximum)}`);
  }
  return value;
}

function rangeText(minimum: number, maximum: number): string {
  if (minimum === -Infinity && maximum === Infinity) return "";
  if (maximum === Infinity) return ` of at least ${minimum}`;
  return minimum === -Infinity ? ` of at most ${maximum}` : ` from ${minimum} to ${maximum}`;
}
