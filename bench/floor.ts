/**
 * The floor: bare `node:http` with the same requests and responses, without routing, checks, storage
 * or anything else. The ratio to it says how much of the platform's speed remains for the service.
 *
 * A GET answers with the bytes that a `PUT` to the same target stored before, and a GET with
 * `If-None-Match` answers 304.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const prepared = new Map<string, Buffer>();
const json = { "Content-Type": "application/json; charset=utf-8" };
const nothing = Buffer.from("{}");

const server = createServer((request, response) => {
  const { method, url = "" } = request;
  if (method === "GET") {
    answerGet(request, response);
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (method === "PUT") {
      prepared.set(url, Buffer.concat(chunks));
      send(response, 200, {});
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
    if (url.endsWith("/heartbeat")) send(response, 200, { status: "ok" });
    else if (Array.isArray(body["events"])) {
      const events = (body["events"] as Record<string, unknown>[]).map(eventOf);
      send(response, 202, { accepted: events.length, events });
    } else send(response, 202, eventOf(body));
  });
});

function answerGet(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers["if-none-match"] !== undefined) {
    response.writeHead(304);
    response.end();
    return;
  }
  const body = prepared.get(request.url ?? "") ?? nothing;
  response.writeHead(200, { ...json, "Content-Length": body.length });
  response.end(body);
}

function eventOf(report: Record<string, unknown>): Record<string, unknown> {
  const now = new Date().toISOString();
  return {
    id: randomUUID(),
    organization_id: "default",
    timestamp: now,
    ingested_at: now,
    ...report,
    ai: report["consumer"] === "ai",
    status: report["policy_decision"] === "DENIED" ? "denied" : "allowed",
  };
}

function send(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, { ...json, "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(
    `floor listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`,
  );
});
process.on("SIGTERM", () => process.exit(0));
