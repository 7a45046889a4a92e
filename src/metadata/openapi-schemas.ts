import type { Schema, StringSchema } from "../core/schema.ts";

/** A piece of the OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

const COMPONENT_NAME = /^[A-Za-z0-9._-]+$/;

/** The JSON Schema of a text, with the limits of its own rule. */
export function textSchema({ ruled, ...keywords }: StringSchema): Json {
  return { ...keywords, ...ruled };
}

/**
 * Turns schema literals into the JSON Schemas of a document. A schema with a title becomes a
 * component that all others refer to, so that generated clients have one type for it.
 */
export class SchemaComponents {
  readonly #components = new Map<string, { readonly text: string; readonly json: Json }>();

  /**
   * The schema, or a reference to its component.
   *
   * @throws Error if two different schemas have one title, or a title is not a valid component name
   */
  refer(schema: Schema): Json {
    const { title } = schema;
    if (title === undefined) return this.#spell(schema);
    if (!COMPONENT_NAME.test(title))
      throw new Error(`"${title}" is not a valid name of a component`);
    const json = this.#spell(schema);
    const text = JSON.stringify(json);
    const known = this.#components.get(title);
    if (known && known.text !== text) throw new Error(`Two different schemas are titled ${title}`);
    this.#components.set(title, { text, json });
    return { $ref: `#/components/schemas/${title}` };
  }

  /** Every component so far, by name in alphabetical order. */
  all(): Json {
    const entries = [...this.#components].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([name, { json }]) => [name, json]));
  }

  #spell(schema: Schema): Json {
    const { title: _, strict, ...keywords } = schema;
    if ("anyOf" in keywords) {
      return { ...keywords, anyOf: keywords.anyOf.map((member) => this.refer(member)) };
    }
    if (keywords.type === "array") return { ...keywords, items: this.refer(keywords.items) };
    if (keywords.type === "string") return textSchema(keywords);
    if (keywords.type !== "object") return keywords;
    const { properties, additionalProperties: values, ...rest } = keywords;
    return {
      ...rest,
      ...(properties && { properties: this.#referAll(properties) }),
      ...(properties && strict && { additionalProperties: false }),
      ...(values !== undefined && {
        additionalProperties: values === true ? true : this.refer(values),
      }),
    };
  }

  #referAll(properties: Readonly<Record<string, Schema>>): Json {
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, this.refer(property)]),
    );
  }
}
