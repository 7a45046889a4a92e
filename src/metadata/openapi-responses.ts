import type { Schema } from "../core/schema.ts";
import {
  bodySchema,
  type OneReplyShape,
  type ReplyShape,
  type RouteDescription,
} from "../http/route.ts";
import { demandOf, type Operation } from "./operations.ts";
import type { Json, SchemaComponents } from "./openapi-schemas.ts";
import { errorReply } from "./schema.ts";

/** The refusals by status: the name of the component, and its description. */
const REFUSALS: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ["BadRequest", "The body or a parameter is invalid."],
  401: ["Unauthorized", "Credentials are missing or not valid."],
  403: ["Forbidden", "The caller's role, key scope or organization does not allow this."],
  404: ["NotFound", "The caller's organization has no such record."],
  408: ["RequestTimeout", "The request did not arrive in time."],
  409: ["Conflict", "The state of the record does not allow this."],
  413: ["ContentTooLarge", "The body exceeds the limit."],
  415: ["UnsupportedMediaType", "The body is not JSON, or its encoding is not gzip."],
  421: ["MisdirectedRequest", "The server does not answer to the name in `Host`."],
  429: ["TooManyRequests", "A rate limit or a quota is exceeded; the error names it."],
  431: [
    "RequestHeaderFieldsTooLarge",
    "The request line and headers, or the number of headers, exceed the limit.",
  ],
  500: ["InternalServerError", "The service or its storage failed."],
  503: ["ServiceUnavailable", "The service cannot process the request now. Try again later."],
  507: ["InsufficientStorage", "The organization's audit quota is reached, or the disk is full."],
};

/** The headers that belong to the refusals of one status. */
const REFUSAL_HEADERS: Readonly<Record<number, string>> = {
  401: "WWW-Authenticate",
  429: "Retry-After",
  503: "Retry-After",
  507: "Retry-After",
};

const COMMON_HEADERS = ["X-Request-Id", "X-Content-Type-Options", "Vary", "Cache-Control"] as const;

const PAGE_TYPE = "text/html";
/** The headers of pages for people, beside the common ones. */
const PAGE_HEADERS = [
  "Content-Security-Policy",
  "Referrer-Policy",
  "X-Frame-Options",
  "Cross-Origin-Opener-Policy",
  "Cross-Origin-Resource-Policy",
] as const;

const HEADERS: Readonly<Record<string, string>> = {
  "X-Request-Id": "The valid `X-Request-Id` of the request, or a generated one.",
  "X-Content-Type-Options": "Always `nosniff`.",
  Vary: "The request headers that the response depends on, always with `Origin`.",
  "Cache-Control": "`no-store`, except for responses with an `ETag` or permanent content.",
  "WWW-Authenticate":
    'Always `Bearer realm="signalbox"`, with `error="invalid_token"` when a token was refused.',
  "Retry-After": "The number of seconds to wait.",
  "Content-Security-Policy": "Of a page: only scripts, styles and requests of this service.",
  "Referrer-Policy": "Of a page: always `no-referrer`.",
  "X-Frame-Options": "Of a page: always `DENY`.",
  "Cross-Origin-Opener-Policy": "Of a page: always `same-origin`.",
  "Cross-Origin-Resource-Policy": "Of a page: always `same-origin`.",
};

/** The statuses that refuse any request before its operation is known: by its headers, its host or its timing. */
const ANY_REQUEST = [400, 408, 421, 431] as const;

/**
 * The statuses above 399 that an operation may answer with: those that its row names, those that
 * follow from its access, its parameters and its body, and those of any request.
 */
export function refusedStatuses({ row, surface, method }: Operation): readonly number[] {
  const statuses = new Set<number>([...(row.refuses ?? []), ...ANY_REQUEST, 500]);
  const demand = demandOf({ row, surface });
  if (demand !== "none") statuses.add(401);
  // A key of a limited scope is refused even if keys are not required, and so is a lower role.
  if (demand === "key" || demand === "user") statuses.add(403);
  // The database may be unreachable, or there may be too many bodies or large answers at a time.
  if (surface !== "portal" || row.large || row.body) statuses.add(503);
  if (row.body) for (const status of [413, 415]) statuses.add(status);
  if (method !== "GET") statuses.add(507); // a full disk
  if (surface === "public" && method !== "GET") statuses.add(429); // an open demo limits writes
  return [...statuses].sort((a, b) => a - b);
}

/** Every response of an operation, by status. */
export function responsesOf(operation: Operation, schemas: SchemaComponents): Json {
  const { row } = operation;
  const answers = Object.entries(row.replies).map(([status, shape]) => [
    status,
    answerOf(Number(status), shape, row, schemas),
  ]);
  const refusals = refusedStatuses(operation).map((status) => {
    const refusal = REFUSALS[status];
    if (!refusal) throw new Error(`No description for status ${status} of ${operation.path}`);
    return [String(status), { $ref: `#/components/responses/${refusal[0]}` }];
  });
  return Object.fromEntries([...answers, ...refusals]) as Json;
}

function answerOf(
  status: number,
  shape: ReplyShape,
  row: RouteDescription,
  schemas: SchemaComponents,
): Json {
  const own = Object.entries(row.replyHeaders ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: "string" } },
  ]);
  const shapes = shapesOf(shape);
  const names = [...COMMON_HEADERS, ...(shapes.includes(PAGE_TYPE) ? PAGE_HEADERS : [])];
  const headers = { ...headerReferences(names), ...(Object.fromEntries(own) as Json) };
  if (status === 204) return { description: "The request succeeded.", headers };
  if (status === 304) return { description: "The client's copy is current.", headers };
  const described = shapes.find((one) => typeof one === "object" && one.description !== undefined);
  const description = (described as Schema | undefined)?.description ?? `${row.summary}.`;
  const content = Object.fromEntries(shapes.map((one) => contentOf(one, schemas)));
  return { description, headers, content };
}

/** The shapes of an answer as a list. */
export function shapesOf(shape: ReplyShape): readonly OneReplyShape[] {
  return isList(shape) ? shape : [shape];
}

// `Array.isArray` alone does not narrow a read-only list.
function isList(shape: ReplyShape): shape is readonly OneReplyShape[] {
  return Array.isArray(shape);
}

function contentOf(shape: OneReplyShape, schemas: SchemaComponents): readonly [string, Json] {
  if (typeof shape === "string") return [shape, { schema: { type: "string" } }];
  return ["application/json", { schema: schemas.refer(shape) }];
}

/** The body of an operation; `undefined` if it has none. */
export function requestBodyOf(row: RouteDescription, schemas: SchemaComponents): Json | undefined {
  if (!row.body) return undefined;
  const schema = bodySchema(row.body);
  return {
    ...(schema.description !== undefined && { description: schema.description }),
    required: true,
    content: { "application/json": { schema: schemas.refer(schema, true) } },
  };
}

/** The responses and headers that the given operations share. */
export function sharedResponses(
  operations: readonly Operation[],
  schemas: SchemaComponents,
): { readonly responses: Json; readonly headers: Json } {
  const isPage = ({ row }: Operation) => Object.values(row.replies).flat().includes(PAGE_TYPE);
  const used = new Set<string>([
    ...COMMON_HEADERS,
    ...(operations.some(isPage) ? PAGE_HEADERS : []),
  ]);
  const responses = [...new Set(operations.flatMap(refusedStatuses))]
    .sort((a, b) => a - b)
    .map((status) => {
      const [name, description] = REFUSALS[status] ?? ["", ""];
      const headers = [...COMMON_HEADERS, REFUSAL_HEADERS[status] ?? []].flat();
      for (const header of headers) used.add(header);
      const response = {
        description,
        headers: headerReferences(headers),
        content: { "application/json": { schema: schemas.refer(errorReply) } },
      };
      return [name, response];
    });
  const headers = [...used].map((name) => {
    const type = name === "Retry-After" ? "integer" : "string";
    return [name, { description: HEADERS[name], schema: { type } }];
  });
  return {
    responses: Object.fromEntries(responses) as Json,
    headers: Object.fromEntries(headers) as Json,
  };
}

function headerReferences(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
