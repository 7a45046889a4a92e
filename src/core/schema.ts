/**
 * The subset of JSON Schema (2020-12) in which Signalbox declares its data. One literal validates,
 * documents and types: `validate.ts` enforces every keyword except `ruled`, the OpenAPI document
 * contains it, and `Infer` turns it into a TypeScript type.
 */
export type Schema =
  | StringSchema
  | NullableStringSchema
  | IntegerSchema
  | BooleanSchema
  | ArraySchema
  | ObjectSchema
  | AnyOfSchema;

interface Annotations {
  /** A schema with a title becomes a component of the OpenAPI document. */
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  /**
   * Set for conditions and limits, which a mistake must not lift: neither `null` nor an empty text counts as
   * absent. In a strict object that holds for its properties and values as well, and an unknown property is refused.
   */
  readonly strict?: true;
}

export interface StringSchema extends Annotations {
  readonly type: "string";
  readonly enum?: readonly string[];
  /** In UTF-16 code units. */
  readonly maxLength?: number;
  /** An annotation: the field's own rule checks the format. */
  readonly format?: "date-time" | "email" | "password" | "uri";
  readonly default?: string;
  /** The limits that the field's own rule enforces. For documents only: not checked here. */
  readonly ruled?: TextLimits;
}

/** Limits of a text, in the terms of JSON Schema. */
export interface TextLimits {
  readonly enum?: readonly string[];
  /** A regular expression with the flag `u`, anchored explicitly. */
  readonly pattern?: string;
  /** In code points, as is `maxLength`. */
  readonly minLength?: number;
  readonly maxLength?: number;
}

export interface NullableStringSchema extends Annotations {
  readonly type: readonly ["string", "null"];
}

export interface IntegerSchema extends Annotations {
  readonly type: "integer";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export interface BooleanSchema extends Annotations {
  readonly type: "boolean";
  readonly default?: boolean;
}

export interface ArraySchema extends Annotations {
  readonly type: "array";
  readonly items: Schema;
  readonly minItems?: 1;
  readonly maxItems?: number;
}

export interface ObjectSchema extends Annotations {
  readonly type: "object";
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** A schema for the values of a map; `true` for a free-form object. */
  readonly additionalProperties?: Schema | true;
  /** The least and the most values of a map; those that are null do not count. */
  readonly minProperties?: 1;
  readonly maxProperties?: number;
  /** The limits that the object's own rule enforces. For documents only: not checked here. */
  readonly ruled?: ObjectLimits;
}

/** Limits of an object as a whole, in the terms of JSON Schema. */
export interface ObjectLimits {
  readonly minProperties?: 1;
  readonly propertyNames?: TextLimits;
  /** Forms that the object must not have; `object-forms.ts` makes them. */
  readonly not?: ObjectForm | { readonly anyOf: readonly ObjectForm[] };
}

/** The properties that an object has, and the schemas of those that it may have. */
interface ObjectForm {
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

/** The value matches at least one of the schemas; for answers with two shapes. */
export interface AnyOfSchema extends Annotations {
  readonly anyOf: readonly Schema[];
}

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };
type Flat<T> = { [K in keyof T]: T[K] };

type InferObject<P, R extends PropertyKey> = Flat<
  { readonly [K in keyof P as K extends R ? K : never]: Infer<P[K]> } & Optional<{
    readonly [K in keyof P as K extends R ? never : K]: Infer<P[K]>;
  }>
>;

/**
 * The TypeScript type of the values that a schema describes. It is `unknown` for the type `Schema`
 * itself, which the compiler evaluates while it infers a row and which would recurse without end.
 */
export type Infer<S> = Schema extends S
  ? unknown
  : S extends { readonly anyOf: readonly (infer Member)[] }
    ? Infer<Member>
    : S extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : S extends { readonly type: "string" }
        ? string
        : S extends { readonly type: readonly ["string", "null"] }
          ? string | null
          : S extends { readonly type: "integer" }
            ? number
            : S extends { readonly type: "boolean" }
              ? boolean
              : S extends { readonly type: "array"; readonly items: infer Items }
                ? readonly Infer<Items>[]
                : S extends {
                      readonly properties: infer P;
                      readonly required: readonly (infer R)[];
                    }
                  ? InferObject<P, R & PropertyKey>
                  : S extends { readonly properties: infer P }
                    ? InferObject<P, never>
                    : S extends { readonly type: "object"; readonly additionalProperties: true }
                      ? Readonly<Record<string, unknown>>
                      : S extends {
                            readonly type: "object";
                            readonly additionalProperties: infer V;
                          }
                        ? Readonly<Record<string, Infer<V>>>
                        : unknown;
