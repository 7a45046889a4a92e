import type { ObjectSchema, Schema } from "../core/schema.ts";
import { bodySchema } from "../http/route.ts";
import { demandOf, type Operation } from "../metadata/operations.ts";

/** What to call, as a shell line shows it. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: readonly string[];
  readonly body?: unknown;
}

/** Writes a request as a `curl` command that a shell takes as it stands, whatever is in it. */
export function curlLine({ method, url, headers = [], body }: ShownRequest): string {
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${quote(url)}`];
  for (const header of headers) lines.push(`-H ${quote(header)}`);
  if (body !== undefined) {
    lines.push(
      `-H ${quote("Content-Type: application/json")}`,
      `-d ${quote(JSON.stringify(body))}`,
    );
  }
  return lines.join(" \\\n  ");
}

/** A request that calls an operation; what the reader has to put in stands in `<angle brackets>`. */
export function exampleRequest(operation: Operation, baseUrl: string): ShownRequest {
  const { row, surface, method } = operation;
  const path = operation.path.replace(/\{(\w+)\}/g, "<$1>");
  const demand = demandOf(row.access, surface);
  const headers =
    demand === "runtime"
      ? ["X-API-Key: <api_key>"]
      : demand === "none"
        ? []
        : ["Authorization: Bearer <token>"];
  const body = row.body && exampleOf(bodySchema(row.body), "body");
  return { method, url: baseUrl + path, headers, body };
}

function exampleOf(schema: Schema, name: string): unknown {
  if (schema.examples && schema.examples.length > 0) return schema.examples[0];
  if ("anyOf" in schema) return schema.anyOf[0] && exampleOf(schema.anyOf[0], name);
  switch (schema.type) {
    case "object":
      return exampleObject(schema);
    case "array":
      return [exampleOf(schema.items, name)];
    case "integer":
      return schema.default ?? schema.minimum ?? 1;
    case "boolean":
      return schema.default ?? true;
    case "string":
      return schema.enum?.[0] ?? schema.default ?? `<${name}>`;
    default:
      return `<${name}>`;
  }
}

/** Shows what is required, or the first property where nothing is. */
function exampleObject({ properties = {}, required = [] }: ObjectSchema): unknown {
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(
    names.flatMap((name) => {
      const property = properties[name];
      return property ? [[name, exampleOf(property, name)]] : [];
    }),
  );
}

/** Quotes for a POSIX shell: nothing is special between single quotes but the quote itself. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
