/** The operations that a running service documents, for tests that visit all of them. */
import assert from "node:assert/strict";
import type { App } from "./start.ts";

/** A schema of the served document. */
export interface SchemaObject {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly required?: readonly string[];
  readonly items?: SchemaObject;
  readonly anyOf?: readonly SchemaObject[];
  readonly additionalProperties?: boolean | SchemaObject;
  readonly $ref?: string;
}

/** A parameter in the document. */
export interface ParameterObject {
  readonly name: string;
  readonly in: string;
}

/** One operation of the served document, references resolved. */
export interface Operation {
  readonly method: string;
  /** The template, such as `/api/v1/policies/{version}`. */
  readonly path: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly ParameterObject[];
  readonly body: SchemaObject | undefined;
  readonly statuses: readonly string[];
  /** The operation in the document. */
  readonly raw: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface RawOperation extends Readonly<Record<string, unknown>> {
  readonly security?: Operation["security"];
  readonly parameters?: readonly (ParameterObject | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: SchemaObject }>>;
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The operations of a service, in the order of its document. */
export async function operationsOf(app: App): Promise<readonly Operation[]> {
  const { body } = await app.get("/openapi.json");
  const document = body as Document;
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, raw]) => ({
      method: method.toUpperCase(),
      path,
      security: raw.security ?? [],
      parameters: (raw.parameters ?? []).map((one) => resolved(document, one) as ParameterObject),
      body: resolved(document, raw.requestBody?.content["application/json"]?.schema),
      statuses: Object.keys(raw.responses),
      raw,
    })),
  );
}

/** The operations below a prefix; fails if there are none, so that a loop over them does run. */
export async function operationsBelow(app: App, prefix: string): Promise<readonly Operation[]> {
  const found = (await operationsOf(app)).filter(({ path }) => path.startsWith(prefix));
  assert.ok(found.length > 0, `no operation is below ${prefix}`);
  return found;
}

/** An operation's path with a value in place of every parameter. */
export function fillIn(path: string, value = "no-such-record"): string {
  return fillInEach(path, [value])[0] ?? "";
}

/** An operation's path with every combination of some values in place of its parameters. */
export function fillInEach(path: string, values: readonly string[]): readonly string[] {
  const [parameter] = /\{\w+\}/.exec(path) ?? [];
  if (parameter !== undefined) {
    return values.flatMap((value) => fillInEach(path.replace(parameter, value), values));
  }
  assert.doesNotMatch(path, /[{}]/, "a parameter was not filled in");
  return [path];
}

/** A copy of a part of the document in which every reference is replaced by its target. */
function resolved<T>(document: Document, value: T): T {
  if (Array.isArray(value)) return value.map((one: unknown) => resolved(document, one)) as T;
  if (typeof value !== "object" || value === null) return value;
  if ("$ref" in value) {
    const [, , kind = "", name = ""] = String(value.$ref).split("/");
    return resolved(document, document.components[kind]?.[name]) as T;
  }
  const entries = Object.entries(value).map(([key, one]) => [key, resolved(document, one)]);
  return Object.fromEntries(entries) as T;
}
