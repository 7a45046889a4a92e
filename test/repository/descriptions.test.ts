import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schema } from "../../src/core/schema.ts";
import { bodySchema, type RouteDescription } from "../../src/http/route.ts";
import { TAG_DESCRIPTIONS } from "../../src/metadata/tags.ts";
import { routes } from "../../src/routes.ts";

const rows: readonly RouteDescription[] = routes;

/** The rows for which something holds, as a failure shows them. */
function rowsWhere(holds: (row: RouteDescription) => boolean): readonly string[] {
  return rows.filter(holds).map(({ method, path }) => `${method} ${path}`);
}

/** The places inside of a schema at which a description is missing. */
function undescribed(schema: Schema, place: string): readonly string[] {
  const name = schema.title ?? place;
  if ("anyOf" in schema) return schema.anyOf.flatMap((one) => undescribed(one, name));
  if (schema.type === "array") return undescribed(schema.items, `${name}[]`);
  if (schema.type !== "object") return [];
  const { properties = {}, additionalProperties: values } = schema;
  const inValues = typeof values === "object" ? undescribed(values, `${name}.*`) : [];
  const inProperties = Object.entries(properties).flatMap(([property, inner]) => {
    const missing = inner.description || inner.title ? [] : [`${name}.${property}`];
    return [...missing, ...undescribed(inner, `${name}.${property}`)];
  });
  const own = schema.title !== undefined && !schema.description ? [name] : [];
  return [...own, ...inProperties, ...inValues];
}

test("every property of every body and reply has a description", () => {
  const missing = rows.flatMap((row) => {
    const shapes = Object.values(row.replies).flat() as readonly (Schema | string)[];
    const replies = shapes.filter((shape) => typeof shape === "object");
    const schemas = row.body ? [bodySchema(row.body), ...replies] : replies;
    return schemas.flatMap((schema) => undescribed(schema, `${row.method} ${row.path}`));
  });
  assert.deepEqual([...new Set(missing)], []);
});

test("every parameter has a description", () => {
  const missing = rowsWhere(({ params = {}, query = {}, headers = {} }) =>
    [
      ...Object.values(params).map(({ description }) => description),
      ...Object.values(query).map(({ description }) => description),
      ...Object.values(headers).map(({ description }) => description),
    ].some((description) => !description),
  );
  assert.deepEqual(missing, []);
});

test("the parameters in a path are exactly those that are described", () => {
  const differing = rowsWhere(({ path, params = {} }) => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    return inPath.join() !== Object.keys(params).join();
  });
  assert.deepEqual(differing, []);
});

test("every row has a summary without a full stop, and a surface", () => {
  assert.deepEqual(
    rowsWhere(({ summary }) => summary === "" || summary.endsWith(".")),
    [],
  );
  assert.deepEqual(
    rowsWhere(({ surfaces }) => surfaces.length === 0),
    [],
  );
});

test("every row has a description, in whole sentences", () => {
  assert.deepEqual(
    rowsWhere(({ description = "" }) => !/^[A-Z0-9`].*[.)]$/.test(description)),
    [],
  );
});

test("every row has a tag, and every tag a description", () => {
  assert.deepEqual(
    rowsWhere(({ tags }) => tags.length === 0),
    [],
  );
  assert.deepEqual(
    rowsWhere(({ tags }) => tags.some((tag) => !TAG_DESCRIPTIONS.has(tag))),
    [],
  );
});

test("only an open row or one that also serves /api/v1 stands on the other surfaces", () => {
  const odd = rowsWhere(({ access, surfaces }) => access !== "open" && !surfaces.includes("v1"));
  assert.deepEqual(odd, []);
});
