import { capitalize } from "../../core/capitalize.ts";
import { filterQuery } from "../../audit/filter.ts";
import type { Schema } from "../../core/schema.ts";
import { bodySchema, type OneReplyShape, type RouteDescription } from "../../http/route.ts";
import { refusedStatuses, shapesOf } from "../../metadata/openapi-responses.ts";
import {
  demandOf,
  DEMAND_WORDS,
  operationsOf,
  permissionInWords,
  type Operation,
} from "../../metadata/operations.ts";
import { servedSurfaces, type Page, type ServiceDescription } from "../../metadata/service.ts";
import { TAG_DESCRIPTIONS } from "../../metadata/tags.ts";
import { curlLine } from "../curl.ts";
import { exampleRequest } from "./example-request.ts";
import { html, prose, type Html } from "../html.ts";
import { layOut, type PortalFrame } from "./layout.ts";
import { searchField } from "../pages/fields.ts";
import { shellLines } from "../pages/parts.ts";
import { fieldTable, threeColumns, titledSchemas, typeName } from "./schema-tables.ts";

/** The operations of one row: the same call on each of its surfaces. */
type Siblings = readonly [Operation, ...Operation[]];

/** Renders the API reference: every operation with its parameters, bodies and replies, and every type. */
export function apiPage(frame: PortalFrame): Page {
  const { description } = frame;
  const operations = operationsOf(description.rows, servedSurfaces(description.publicSurface));
  const rows = bySurfaces(operations);
  const types = titledSchemas(operations.flatMap(({ row }) => schemasOf(row)));
  const body = html`<div class="reference">
    <div class="page-head">
      <h1>API</h1>
      <span class="faint" id="found" role="status">${rows.length} operations</span>
    </div>
    <p class="lede">
      Every operation of this deployment, with a command to try it. What stands in
      <code>&lt;angle brackets&gt;</code> is yours to fill in.
    </p>
    <p>
      The same contract for machines: <a href="/openapi.yaml">YAML</a>,
      <a href="/openapi.json">JSON</a>. Errors are always <code>{"error": "the reason"}</code>.
    </p>
    <div class="find needs-modules">
      ${searchField(undefined, "A path, a method, or what it does")}
    </div>
    ${[...byTag(rows)].map(([tag, own]) => group(tag, own, description))}
    <h2 id="types">Types</h2>
    ${[...types].map(([name, schema]) => typeSection(name, schema))}
  </div>`;
  return layOut(frame, { path: "/portal/api", title: "API", module: "reference", body });
}

function bySurfaces(operations: readonly Operation[]): readonly Siblings[] {
  const rows = new Map<RouteDescription, [Operation, ...Operation[]]>();
  for (const operation of operations) {
    const siblings = rows.get(operation.row);
    if (siblings) siblings.push(operation);
    else rows.set(operation.row, [operation]);
  }
  return [...rows.values()];
}

function byTag(rows: readonly Siblings[]): ReadonlyMap<string, readonly Siblings[]> {
  const groups = new Map<string, Siblings[]>([...TAG_DESCRIPTIONS.keys()].map((tag) => [tag, []]));
  for (const siblings of rows) {
    const tag = siblings[0].row.tags[0] ?? "other";
    groups.set(tag, [...(groups.get(tag) ?? []), siblings]);
  }
  return new Map([...groups].filter(([, members]) => members.length > 0));
}

function group(tag: string, rows: readonly Siblings[], service: ServiceDescription): Html {
  return html`<section aria-labelledby="tag-${tag}" data-group>
    <h2 id="tag-${tag}">${capitalize(tag)}</h2>
    <p>${TAG_DESCRIPTIONS.get(tag)}</p>
    ${rows.map((siblings) => entry(siblings, service))}
  </section>`;
}

function entry(siblings: Siblings, { baseUrl, roles }: ServiceDescription): Html {
  const [first] = siblings;
  const permissions = siblings.flatMap((operation) => permissionInWords(operation, roles));
  const { row, method } = first;
  const paths = siblings.map(
    (operation) =>
      html`<li><code>${operation.path}</code>: ${DEMAND_WORDS[demandOf(operation)]}</li>`,
  );
  return html`<details id="${first.id}">
    <summary>
      <span class="method">${method}</span>
      <code>${row.path}</code>
      <span class="what">${prose(row.summary)}</span>
    </summary>
    ${row.description === undefined ? undefined : html`<p>${prose(row.description)}</p>`}
    ${siblings.map((operation) => shellLines(curlLine(exampleRequest(operation, baseUrl()))))}
    <h3>Paths and credentials</h3>
    <ul data-paths>
      ${paths}
    </ul>
    ${permissions.length === 0 ? undefined : html`<p>${prose(permissions.join(" "))}</p>`}
    <p><a href="#${first.id}">Link to this operation</a></p>
    ${parameters(row)} ${requestBody(row)}
    <h3>Answers</h3>
    <ul>
      ${answers(row)}
      <li>Refused or failed: ${refusals(siblings)} with <code>{"error": "the reason"}</code></li>
    </ul>
  </details>`;
}

function parameters(row: RouteDescription): Html | undefined {
  const { params = {}, query = {}, headers = {} } = row;
  // Written once: the filters of events are most of the text of five operations.
  const isFiltered = row.path !== "/audit" && query["q"] === filterQuery.q;
  const filters: Readonly<Record<string, unknown>> = isFiltered ? filterQuery : {};
  const rows = [
    ...Object.entries(params).map(([name, { description }]) => ({
      name,
      kind: html`in the path`,
      description,
    })),
    ...(isFiltered
      ? [{ name: "…", kind: html`in the query`, description: "The filters of `GET /audit`." }]
      : []),
    ...Object.entries(query)
      .filter(([name, parameter]) => filters[name] !== parameter)
      .map(([name, parameter]) => ({
        name,
        kind: html`${typeName(parameter)} in the query${range(parameter)}`,
        description: parameter.description ?? "",
      })),
    ...Object.entries(headers).map(([name, parameter]) => ({
      name,
      kind: html`header`,
      description: parameter.description ?? "",
    })),
  ];
  if (rows.length === 0) return undefined;
  return html`<h3>Parameters</h3>
    ${threeColumns(["Name", "Kind", "Meaning"], rows)}`;
}

function range(parameter: NonNullable<RouteDescription["query"]>[string]): string {
  if (parameter.type === "array") return `, repeated at most ${parameter.maxItems} times`;
  const fallback = parameter.default === undefined ? "" : `, default ${parameter.default}`;
  if (parameter.type !== "integer") return fallback;
  const { minimum, maximum } = parameter;
  const least = minimum === undefined ? "" : `, at least ${minimum}`;
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  return `${least}${isBounded ? `, at most ${maximum}` : ""}${fallback}`;
}

function requestBody(row: RouteDescription): Html | undefined {
  if (!row.body) return undefined;
  return html`<h3>Body</h3>
    ${fieldTable(bodySchema(row.body))}`;
}

function answers(row: RouteDescription): readonly Html[] {
  return Object.entries(row.replies).map(([status, shape]) => {
    const isEmpty = status === "204" || status === "304";
    const [first, ...others] = isEmpty ? [html`no body`] : shapesOf(shape).map(shapeName);
    return html`<li>${status}: ${first}${others.map((other) => html`, or ${other}`)}</li>`;
  });
}

function shapeName(shape: OneReplyShape): Html {
  return typeof shape === "string" ? html`<code>${shape}</code>` : typeName(shape);
}

function refusals(siblings: Siblings): string {
  const statuses = new Set(siblings.flatMap(refusedStatuses));
  return [...statuses].sort((a, b) => a - b).join(", ");
}

function schemasOf(row: RouteDescription): readonly Schema[] {
  const replies = Object.values(row.replies)
    .flatMap(shapesOf)
    .filter((shape) => typeof shape === "object");
  return row.body ? [bodySchema(row.body), ...replies] : replies;
}

function typeSection(name: string, schema: Schema): Html {
  const description = schema.description;
  return html`<section>
    <h3 id="type-${name}">${name}</h3>
    ${description === undefined ? undefined : html`<p>${prose(description)}</p>`}
    ${fieldTable(schema)}
  </section>`;
}
