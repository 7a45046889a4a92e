import type { ObjectSchema, Schema } from "../../core/schema.ts";
import { html, prose, type Html } from "../html.ts";
import { table } from "../pages/parts.ts";

/** All schemas with a title, those inside the given ones too, in the order of their titles. */
export function titledSchemas(schemas: Iterable<Schema>): ReadonlyMap<string, Schema> {
  const found = new Map<string, Schema>();
  const visit = (schema: Schema): void => {
    if (schema.title !== undefined) {
      if (found.has(schema.title)) return;
      found.set(schema.title, schema);
    }
    innerSchemas(schema).forEach(visit);
  };
  for (const schema of schemas) visit(schema);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function innerSchemas(schema: Schema): readonly Schema[] {
  if ("anyOf" in schema) return schema.anyOf;
  if (schema.type === "array") return [schema.items];
  if (schema.type !== "object") return [];
  const { properties = {}, additionalProperties: values } = schema;
  return [
    ...Object.values(properties),
    ...(values === undefined || values === true ? [] : [values]),
  ];
}

/** The name of a type; a type with a title links to its description. */
export function typeName(schema: Schema): Html {
  if (schema.title !== undefined) {
    return html`<a href="#type-${schema.title}">${schema.title}</a>`;
  }
  if ("anyOf" in schema) {
    const [first, ...others] = schema.anyOf.map(typeName);
    return html`${first}${others.map((other) => html` or ${other}`)}`;
  }
  switch (schema.type) {
    case "array":
      return html`list of ${typeName(schema.items)}`;
    case "object": {
      const values = schema.additionalProperties;
      if (values === undefined || values === true) return html`object`;
      return html`map to ${typeName(values)}`;
    }
    case "string":
      return html`${(schema.enum ?? schema.ruled?.enum)?.join(" | ") ?? schema.format ?? "string"}`;
    case "integer":
    case "boolean":
      return html`${schema.type}`;
    default:
      return html`string or null`;
  }
}

/** Renders the fields of an object as a table, or its type where it has no fields. */
export function fieldTable(schema: Schema): Html {
  if ("anyOf" in schema || schema.type !== "object" || !schema.properties) {
    return html`<p>${typeName(withoutTitle(schema))}</p>`;
  }
  const { properties, required = [] }: ObjectSchema = schema;
  const rows = Object.entries(properties ?? {}).map(([name, property]) => ({
    name,
    kind: required.includes(name) ? html`${typeName(property)}, always` : typeName(property),
    description: property.description ?? "",
  }));
  return threeColumns(["Field", "Type", "Meaning"], rows);
}

function withoutTitle(schema: Schema): Schema {
  const { title: _, ...rest } = schema;
  return rest;
}

/** A row of a table: a name, its kind in a few words, and its description. */
export interface TableRow {
  readonly name: string;
  readonly kind: Html;
  readonly description: string;
}

/** Renders a table of names, kinds and descriptions. Neighbours that differ in their names alone share a row. */
export function threeColumns(headings: readonly string[], rows: readonly TableRow[]): Html {
  const shared: (Omit<TableRow, "name"> & { readonly names: string[] })[] = [];
  for (const { name, kind, description } of rows) {
    const last = shared.at(-1);
    const isSame = last?.description === description && String(last.kind) === String(kind);
    if (isSame && description !== "") last.names.push(name);
    else shared.push({ names: [name], kind, description });
  }
  const markup = shared.map(
    ({ names, kind, description }) =>
      html`<tr>
        <td>${names.map((name, i) => html`${i > 0 ? ", " : ""}<code>${name}</code>`)}</td>
        <td>${kind}</td>
        <td>${prose(description)}</td>
      </tr>`,
  );
  return table(undefined, "", headings, markup);
}
