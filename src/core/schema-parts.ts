/** The schemas that most fields have. */
import type { BooleanSchema, IntegerSchema, Schema, StringSchema } from "./schema.ts";

/** The properties of a schema that the functions below do not set. */
type Further<S> = Partial<Omit<S, "type" | "description">>;

/** A text. */
export function string<const F extends Further<StringSchema> = object>(
  description: string,
  further?: F,
) {
  return { type: "string", description, ...(further as F) } as const;
}

/** One of a few words. */
export function word<const W extends readonly string[]>(description: string, words: W) {
  return { type: "string", enum: words, description } as const;
}

/** The same text in every answer. */
export function always(text: string) {
  return { type: "string", description: `Always \`${text}\`.`, examples: [text] } as const;
}

/** A moment in RFC 3339. */
export function dateTime(description: string) {
  return { type: "string", format: "date-time", description } as const;
}

/** A whole number. */
export function integer<const F extends Further<IntegerSchema> = object>(
  description: string,
  further?: F,
) {
  return { type: "integer", description, ...(further as F) } as const;
}

/** `true` or `false`. */
export function boolean<const F extends Further<BooleanSchema> = object>(
  description: string,
  further?: F,
) {
  return { type: "boolean", description, ...(further as F) } as const;
}

/** A list. */
export function list<const S extends Schema>(description: string, items: S) {
  return { type: "array", items, description } as const;
}

type Properties = Readonly<Record<string, Schema>>;

/** The names and the shape of an object. */
interface Fields<P extends Properties, O extends keyof P> {
  readonly title?: string;
  readonly description: string;
  readonly properties: P;
  /** The properties that may be absent. */
  readonly optional?: readonly O[];
  readonly strict?: true;
}

/** An object whose properties are all required, apart from the optional ones. */
export function object<const P extends Properties, const O extends keyof P & string = never>({
  title,
  description,
  properties,
  optional = [],
  strict,
}: Fields<P, O>) {
  const isRequired = (name: string) => !(optional as readonly string[]).includes(name);
  const required = Object.keys(properties).filter(isRequired) as Exclude<keyof P & string, O>[];
  const further = { ...(title && { title }), ...(strict && { strict }) };
  return { ...further, type: "object", description, required, properties } as const;
}
