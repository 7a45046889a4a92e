import type { Schema } from "../core/schema.ts";

/** A piece of the OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

const COMPONENT_NAME = /^[A-Za-z0-9._-]+$/;

/**
 * Turns schema literals into the JSON Schemas of a document. A schema with a title becomes a
 * component that all others refer to, so that generated clients have one type for it.
 */
export class SchemaComponents {
  readonly #components = new Map<string, { readonly text: string; readonly json: Json }>();

  /**
   * The schema, or a reference to its component.
   *
   * @param isBody whether it describes a request's body, in which an empty text counts as absent
   * @throws Error if two different schemas have one title, or a title is not a valid component name
   */
  refer(schema: Schema, isBody = false): Json {
    const { title } = schema;
    if (title === undefined) return this.#spell(schema, isBody);
    if (!COMPONENT_NAME.test(title))
      throw new Error(`"${title}" is not a valid name of a component`);
    const json = this.#spell(schema, isBody);
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

  #spell(schema: Schema, isBody: boolean): Json {
    const { title: _, strict, ...keywords } = schema;
    const inside = (inner: Schema): Json => this.refer(inner, isBody);
    if ("anyOf" in keywords) return { ...keywords, anyOf: keywords.anyOf.map(inside) };
    if (keywords.type === "array") return { ...keywords, items: inside(keywords.items) };
    if (keywords.type === "string") {
      const { ruled, ...own } = keywords;
      return { ...own, ...ruled };
    }
    if (keywords.type !== "object") return keywords;
    const { properties, additionalProperties: values, ruled, ...rest } = keywords;
    const filled = isBody ? rest.required : undefined;
    const entries = Object.entries(properties ?? {}).map(([name, property]) => {
      return [name, inside(filled?.includes(name) ? notEmpty(property) : property)] as const;
    });
    return {
      ...rest,
      ...ruled,
      ...(properties && { properties: Object.fromEntries(entries) }),
      ...(properties && strict && { additionalProperties: false }),
      ...(values !== undefined && {
        additionalProperties: values === true ? true : inside(values),
      }),
    };
  }
}

/** A required property of a body: an empty text counts as absent there, so it is refused. */
function notEmpty(property: Schema): Schema {
  if ("anyOf" in property || property.type !== "string" || property.enum) return property;
  return { ...property, ruled: { minLength: 1, ...property.ruled } };
}
