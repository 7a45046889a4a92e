// @ts-check
/**
 * A peer of the service: the requests that are compared, on Fastify and a database, built as its
 * users would build it: schemas for validation and serialisation, one handler for each route.
 *
 * Usage: node server.js sqlite NORMAL|FULL DIRECTORY [HISTORY]
 *        node server.js postgres SOCKET_DIRECTORY DIRECTORY [HISTORY]
 */
import Fastify from "fastify";
import {
  acceptedSchema,
  eventOf,
  heartbeatSchema,
  pageQuerySchema,
  pageSchema,
  reportSchema,
} from "./event.js";
import { openPostgres } from "./postgres.js";
import { openSqlite } from "./sqlite.js";

const [kind = "", option = "", directory = "", history] = process.argv.slice(2);
const store =
  kind === "sqlite"
    ? await openSqlite(option, directory, history)
    : await openPostgres(option, history);

const app = Fastify({ logger: false, bodyLimit: 8 << 20 });

app.post(
  "/api/public/audit",
  { schema: { body: reportSchema, response: { 202: acceptedSchema } } },
  async (request, reply) => {
    const body = /** @type {Record<string, any>} */ (request.body);
    const now = new Date().toISOString();
    reply.code(202);
    if (Array.isArray(body["events"])) {
      const events = body["events"].map((report) => eventOf(report, now));
      await store.appendAll(events);
      return { accepted: events.length, events };
    }
    const event = eventOf(body, now);
    await store.append(event);
    return event;
  },
);

app.get(
  "/api/public/audit",
  { schema: { querystring: pageQuerySchema, response: { 200: pageSchema } } },
  async (request) => {
    const query = /** @type {Record<string, any>} */ (request.query);
    const { events, total } = await store.page(query);
    const { limit, offset } = query;
    return { events, limit, offset, returned: events.length, total };
  },
);

app.post("/api/public/fleet/heartbeat", { schema: { body: heartbeatSchema } }, async (request) => {
  const body = /** @type {Record<string, any>} */ (request.body);
  await store.heartbeat(body, new Date().toISOString());
  return { status: "ok" };
});

const url = await app.listen({ port: 0, host: "127.0.0.1" });
process.stdout.write(`peer listening on ${url}\n`);
process.on("SIGTERM", async () => {
  await app.close();
  await store.close();
  process.exit(0);
});
