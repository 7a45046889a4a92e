import type { ObjectSchema, Schema } from "../../core/schema.ts";
import { bodySchema } from "../../http/route.ts";
import { demandOf, type Operation } from "../../metadata/operations.ts";
import type { ShownRequest } from "../curl.ts";

/** An example request of an operation; values for the reader to fill in are in `<angle brackets>`. */
export function exampleRequest(operation: Operation, baseUrl: string): ShownRequest {
  const { row, method } = operation;
  const path = operation.path.replace(/\{(\w+)\}/g, "<$1>");
  const demand = demandOf(operation);
  const headers =
    demand === "key"
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

/** Shows the required properties, or the first property where none is required. */
function exampleObject({ properties = {}, required = [] }: ObjectSchema): unknown {
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(
    names.flatMap((name) => {
      const property = properties[name];
      return property ? [[name, exampleOf(property, name)]] : [];
    }),
  );
}
