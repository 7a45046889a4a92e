import type { Schema } from "../../src/core/schema.ts";
import { reply } from "../../src/http/reply.ts";
import { route, type RouteDescription } from "../../src/http/route.ts";

const wagon = {
  title: "Wagon",
  type: "object",
  description: "A wagon.",
  required: ["id"],
  properties: {
    id: { type: "string", description: "Its number." },
    note: { type: ["string", "null"], description: "Anything." },
  },
} as const satisfies Schema;

const wagonList = {
  title: "WagonList",
  type: "object",
  description: "Wagons.",
  required: ["wagons"],
  properties: { wagons: { type: "array", description: "Them.", items: wagon } },
} as const satisfies Schema;

const wagonCreate = {
  title: "WagonCreate",
  type: "object",
  description: "A new wagon.",
  required: ["id"],
  properties: {
    id: { type: "string", description: "Its number." },
    axles: { type: "integer", minimum: 2, default: 4, description: "How many axles." },
  },
} as const satisfies Schema;

/** A few rows that use the features of rows. */
export const sampleRows: readonly RouteDescription[] = [
  route({
    method: "GET",
    path: "/wagons",
    surfaces: ["public", "v1"],
    access: "user",
    keys: "audit.read",
    summary: "List wagons",
    tags: ["fleet"],
    query: {
      limit: {
        type: "integer",
        minimum: 1,
        maximum: 50,
        default: 10,
        forgiving: true,
        description: "How many.",
      },
    },
    headers: {
      accept: { type: "string", description: "Not to be documented." },
      "x-runtime-client": { type: "string", description: "Who asks." },
    },
    replies: { 200: wagonList, 304: wagonList },
    replyHeaders: { ETag: "The tag." },
    handle: () => ({ wagons: [] }),
  }),
  route({
    method: "POST",
    path: "/wagons",
    surfaces: ["public", "v1"],
    access: "user",
    role: "operator",
    summary: "Add a wagon",
    description: "Adds `one`.",
    tags: ["fleet"],
    body: wagonCreate,
    replies: { 201: wagon },
    refuses: [409],
    handle: ({ body }) => reply(201, body),
  }),
  route({
    method: "GET",
    path: "/wagons/{id}/brakes",
    surfaces: ["v1"],
    access: "always",
    summary: "Read the brakes of a wagon",
    tags: ["fleet"],
    params: {
      id: {
        type: "string",
        ruled: { pattern: "^[1-9]", maxLength: 5 },
        description: "Its <number>.",
        examples: ["7"],
      },
    },
    replies: { 200: "text/plain" },
    refuses: [404],
    handle: () => reply(200, ""),
  }),
  route({
    method: "GET",
    path: "/",
    surfaces: ["portal"],
    access: "open",
    summary: "Say hello",
    tags: ["portal"],
    replies: { 200: [wagon, "text/html"] },
    handle: () => reply(200, ""),
  }),
];
