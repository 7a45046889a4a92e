/**
 * Requests made from an OpenAPI document alone: for each operation some that match its declaration,
 * and some with one invalid part.
 */
import fc from "fast-check";

/** A JSON Schema, as far as the service's documents use it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | true;
  readonly not?: ObjectForm & { readonly anyOf?: readonly ObjectForm[] };
}

/** A form that an object must not have, by the properties that are there or, if `required` is absent, not there. */
interface ObjectForm {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** An operation in the document. */
export interface DocumentedOperation {
  readonly security: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: "path" | "query" | "header";
    readonly example?: string;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: JsonSchema }>> };
}

/** The part of the document that schemas refer to. */
export interface Components {
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** A request, and whether its body matches the document. */
export interface MadeRequest {
  readonly target: string;
  readonly body: unknown;
  readonly isRight: boolean;
}

const SAMPLES = 3;
/** Longer limits have their own tests. */
const LONGEST_TRIED = 5_000;

/** Makes the requests of one operation. */
export function requestsOf(
  path: string,
  operation: DocumentedOperation,
  document: Components,
): readonly MadeRequest[] {
  const maker = new Maker(document);
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const found = operation.parameters?.find((one) => one.in === "path" && one.name === name);
    return encodeURIComponent(found?.example ?? "");
  });
  const bare = { target: filled, isRight: true };
  if (!schema) {
    const queries = fc.sample(maker.queryOf(operation), SAMPLES);
    return ["", ...queries].map((query) => ({ ...bare, target: filled + query, body: undefined }));
  }
  const right = fc.sample(maker.valueOf(schema), SAMPLES).map((body) => ({ ...bare, body }));
  const wrong = maker.wrongBodies(schema).map((body) => ({ ...bare, isRight: false, body }));
  return [...right, ...wrong];
}

class Maker {
  readonly #document: Components;

  constructor(document: Components) {
    this.#document = document;
  }

  queryOf({ parameters = [] }: DocumentedOperation): fc.Arbitrary<string> {
    const inQuery = parameters.filter((one) => one.in === "query");
    const values = Object.fromEntries(
      inQuery.map(({ name, schema }) => [name, this.valueOf(schema).map(String)]),
    );
    return fc
      .record(values, { requiredKeys: [] })
      .map((given) => `?${new URLSearchParams(given as Record<string, string>).toString()}`);
  }

  /** Values that match a schema; its examples if it has some, since no schema says everything. */
  valueOf(given: JsonSchema): fc.Arbitrary<unknown> {
    const schema = this.#resolved(given);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => this.valueOf(one)));
    if (schema.examples?.length) return fc.constantFrom(...schema.examples);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    switch (schema.type) {
      case "object":
        return this.#objectOf(schema);
      case "array":
        return fc.array(this.valueOf(schema.items ?? {}), { minLength: 1, maxLength: 3 });
      case "integer":
        return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 99, 99) });
      case "boolean":
        return fc.boolean();
      default:
        return textOf(schema);
    }
  }

  #objectOf({ properties = {}, required = [], not = {} }: JsonSchema): fc.Arbitrary<unknown> {
    const values = Object.entries(properties).map(([name, one]) => [name, this.valueOf(one)]);
    const absent = (not.anyOf ?? [not]).filter((form) => form.required === undefined);
    const needed = absent.flatMap((form) => Object.keys(form.properties ?? {}).slice(0, 1));
    return fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<unknown>>, {
      requiredKeys: [...required, ...needed],
    });
  }

  /** Invalid bodies: not an object, a missing property, or one invalid property beside the required ones. */
  wrongBodies(given: JsonSchema): readonly unknown[] {
    const schema = this.#resolved(given);
    const shapes = (schema.anyOf ?? [schema]).map((one) => this.#resolved(one));
    return ["[]", "{", ...shapes.flatMap((one) => this.#wrongObjects(one))];
  }

  #wrongObjects({ properties = {}, required = [] }: JsonSchema): readonly unknown[] {
    const [least = {}] = fc.sample(
      this.#objectOf({
        properties: Object.fromEntries(
          Object.entries(properties).filter(([name]) => required.includes(name)),
        ),
        required,
      }) as fc.Arbitrary<Record<string, unknown>>,
      1,
    );
    const without = required.map((name) => ({ ...least, [name]: undefined }));
    const spoilt = Object.entries(properties).flatMap(([name, one]) =>
      wrongValues(this.#resolved(one)).map((value) => ({ ...least, [name]: value })),
    );
    return [...without, ...spoilt];
  }

  #resolved(schema: JsonSchema): JsonSchema {
    if (schema.$ref === undefined) return schema;
    return this.#document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {};
  }
}

function textOf(schema: JsonSchema): fc.Arbitrary<string> {
  const { format, pattern = "", minLength = 0, maxLength = 40 } = schema;
  if (format === "date-time") {
    const [min, max] = [new Date("2026-11-01T00:00:00Z"), new Date("2026-11-20T00:00:00Z")];
    return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString());
  }
  if (format === "email") return fc.nat().map((number) => `user-${number}@example.com`);
  const fits = new RegExp(pattern, "u");
  const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) };
  return fc.string({ ...length, unit: "grapheme" }).filter((text) => fits.test(text));
}

/** Values that a schema refuses. The empty text is not among them, since it counts as absent. */
function wrongValues(schema: JsonSchema): readonly unknown[] {
  switch (schema.type) {
    case "string":
      return [{}, ...wrongTexts(schema)];
    case "integer": {
      const { minimum, maximum } = schema;
      const below = minimum === undefined ? [] : [minimum - 1];
      const above = maximum === undefined ? [] : [maximum + 1];
      return ["one", 1.5, ...below, ...above];
    }
    case "boolean":
      return ["maybe"];
    case "array":
      return [{}, "none"];
    case "object":
      return ["none", []];
    default:
      return [];
  }
}

function wrongTexts({ enum: words, pattern, minLength, maxLength }: JsonSchema): readonly string[] {
  const long =
    maxLength !== undefined && maxLength <= LONGEST_TRIED ? ["x".repeat(maxLength + 1)] : [];
  const short = minLength !== undefined && minLength > 1 ? ["x".repeat(minLength - 1)] : [];
  const odd = ["\u0001", " ", "é/ü"].filter((text) => !new RegExp(pattern ?? "", "u").test(text));
  return [
    ...long,
    ...short,
    ...(pattern === undefined ? [] : odd),
    ...(words ? ["no such word"] : []),
  ];
}
