/**
 * Checks every response against the OpenAPI document that the service itself serves, so that each
 * test tests the contract too. Declared objects count as closed here: a field that the document
 * does not declare is a fault, though clients must be ready for new ones.
 */
import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Answer } from "./client.ts";

type Json = Readonly<Record<string, unknown>>;

interface Response {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>;
}

interface OperationObject {
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}

type PathItem = Readonly<Record<string, OperationObject>>;

/** A path of the document, taken apart once: every answer is compared with all of them. */
interface KnownPath {
  readonly template: string;
  readonly names: readonly string[];
  readonly item: PathItem;
}

interface Document {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

// Compiling takes long, and the documents of most tests differ only in their server's port.
const compiled = new Map<string, Contract>();

/** The contract in a document; compiled once for all documents that differ only in their servers. */
export function contractOf(document: unknown): Contract {
  const key = JSON.stringify({ ...(document as Json), servers: undefined });
  const known = compiled.get(key) ?? new Contract(document as Document);
  compiled.set(key, known);
  return known;
}

/** The contract of a service's responses. */
export class Contract {
  readonly #document: Document;
  readonly #paths: readonly KnownPath[];
  readonly #ajv: Ajv2020;
  readonly #validators = new Map<Json, ValidateFunction>();

  constructor(document: Document) {
    this.#document = document;
    this.#paths = Object.entries(document.paths).map(([template, item]) => {
      return { template, names: template.split("/"), item };
    });
    this.#ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
    addFormats.default(this.#ajv);
    this.#ajv.addFormat("email", true); // RFC 5321 allows a domain of one label, and Ajv's format does not
    const schemas = Object.entries(document.components.schemas);
    const $defs = Object.fromEntries(schemas.map(([name, schema]) => [name, closed(schema)]));
    this.#ajv.addSchema({ $id: "components", $defs });
  }

  /** Fails if a response violates the document. */
  check(method: string, target: string, answer: Answer): void {
    const path = target.split("?")[0] ?? "";
    const place = `${method} ${path} answered ${answer.status}`;
    checkCommonHeaders(place, answer);
    const operation = this.#find(method === "HEAD" ? "GET" : method, path);
    if (!operation) return this.#checkUnknown(place, method, answer);
    const response = this.#response(operation, answer.status);
    assert.ok(response, `${place}, which the OpenAPI document does not know: ${answer.text}`);
    checkDeclared(place, response, answer);
    this.#checkBody(place, method, response, answer);
  }

  #find(method: string, path: string): OperationObject | undefined {
    const given = path.split("/");
    const fitting = this.#paths.filter(({ names }) => fits(names, given));
    const fixed = fitting.filter(({ template }) => template === path);
    const patterns = fitting.filter(({ template }) => template !== path);
    return [...fixed, ...patterns]
      .map(({ item }) => item[method.toLowerCase()])
      .find((operation) => operation !== undefined);
  }

  #response(operation: OperationObject, status: number): Response | undefined {
    const response = operation.responses[String(status)];
    if (!response || !("$ref" in response)) return response;
    return this.#document.components.responses[response.$ref.split("/").at(-1) ?? ""];
  }

  #checkUnknown(place: string, method: string, answer: Answer): void {
    if (answer.status === 204 && method === "OPTIONS") {
      const { headers } = answer;
      const says = headers.has("allow") || headers.has("access-control-allow-methods");
      assert.ok(says, `${place} without Allow`);
      return;
    }
    assert.ok(answer.status >= 400, `${place}, but there is no such operation`);
    if (answer.status === 405) assert.ok(answer.headers.has("allow"), `${place} without Allow`);
    if (method !== "HEAD") this.#validate(place, ERROR, answer.body);
  }

  #checkBody(place: string, method: string, response: Response, answer: Answer): void {
    const { content } = response;
    if (!content) {
      assert.equal(answer.text, "", `${place} with a body`);
      return;
    }
    const type = answer.headers.get("content-type") ?? "";
    const media = content[type.split(";")[0] ?? ""];
    assert.ok(media, `${place} as "${type}", the document says ${Object.keys(content).join(", ")}`);
    if (method === "HEAD") assert.equal(answer.text, "", `${place} with a body`);
    else if (type.startsWith("application/json")) this.#validate(place, media.schema, answer.body);
  }

  #validate(place: string, schema: Json, body: unknown): void {
    const validate = this.#validators.get(schema) ?? this.#ajv.compile(closed(schema));
    this.#validators.set(schema, validate);
    if (validate(body)) return;
    const faults = this.#ajv.errorsText(validate.errors, { dataVar: "body" });
    assert.fail(`${place} against its own contract: ${faults}\n${JSON.stringify(body, null, 2)}`);
  }
}

const ERROR: Json = { $ref: "#/components/schemas/Error" };

function checkCommonHeaders(place: string, { status, headers }: Answer): void {
  assert.match(headers.get("x-request-id") ?? "", /^\S+$/, `${place} without X-Request-Id`);
  assert.equal(headers.get("x-content-type-options"), "nosniff", place);
  assert.match(headers.get("vary") ?? "", /(?:^|, *)Origin(?:,|$)/i, `${place}: Vary`);
  assert.ok(headers.has("cache-control"), `${place} without Cache-Control`);
  if (status === 401) {
    assert.match(headers.get("www-authenticate") ?? "", /^Bearer realm="signalbox"/, place);
  }
  if ([429, 503, 507].includes(status)) {
    assert.match(headers.get("retry-after") ?? "", /^\d+$/, `${place} without Retry-After`);
  }
}

/** Headers of any HTTP server, and those of CORS, which the document describes in words. */
const UNDECLARED =
  /^(?:date|connection|keep-alive|transfer-encoding|content-(?:length|type|encoding)|access-control-.*)$/;

function checkDeclared(place: string, response: Response, { headers }: Answer): void {
  const declared = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
  const others = [...headers.keys()].filter((name) => !UNDECLARED.test(name));
  const unknown = others.filter((name) => !declared.includes(name));
  assert.deepEqual(unknown, [], `${place} with headers that the OpenAPI document does not know`);
}

/** Whether the names of a path match those of a template. */
function fits(wanted: readonly string[], given: readonly string[]): boolean {
  if (wanted.length !== given.length) return false;
  return wanted.every((name, i) => (name.startsWith("{") ? given[i] !== "" : name === given[i]));
}

/** A copy in which declared objects are closed and references point to the registered components. */
function closed(schema: Json): Json {
  const copy = Object.entries(schema).map(([key, value]) => {
    if (key === "$ref")
      return [key, String(value).replace("#/components/schemas", "components#/$defs")];
    if (key === "properties") return [key, mapValues(value as Json, (one) => closed(one as Json))];
    if (key === "anyOf") return [key, (value as Json[]).map(closed)];
    const isSchema = key === "items" || key === "additionalProperties";
    return [key, isSchema && typeof value === "object" ? closed(value as Json) : value];
  });
  const isClosed = "properties" in schema && !("additionalProperties" in schema);
  return { ...Object.fromEntries(copy), ...(isClosed && { additionalProperties: false }) } as Json;
}

function mapValues(object: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
