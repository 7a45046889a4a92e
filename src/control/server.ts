/**
 * The socket of a running server for commands on the same machine: a Unix socket in its data directory,
 * which only its owner can open. Requests are HTTP with JSON bodies. The response to a backup names the
 * files of one moment and stays open: the files are kept until the client disconnects.
 */
import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { boundedText } from "../core/bounded-text.ts";
import { Refusal } from "../core/errors.ts";
import { describeError, type Log } from "../core/log.ts";
import type { EngineDirectory } from "../engine.ts";
import { CHANGES, type ChangeName, type ChangeServices } from "./changes.ts";
import { MAX_SOCKET_PATH } from "../core/socket-path.ts";

const MAX_BODY_BYTES = 64 << 10;
const SOCKET_MODE = 0o600;

/** The services that carry out commands. */
export interface ControlParts extends ChangeServices {
  readonly directory: EngineDirectory;
  readonly log: Log;
}

/**
 * Begins to listen. If the directory does not allow a socket, it is served all the same, and the
 * log says that commands will not reach the server.
 *
 * @returns stops listening; backups under way are cut off
 */
export async function listenForCommands(parts: ControlParts): Promise<() => Promise<void>> {
  const { log } = parts;
  const path = parts.directory.socketPath;
  const held = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    answer(parts, request, response, held).catch((error: unknown) => {
      if (!(error instanceof Refusal)) {
        log.error("a command failed", { command: request.url, error: describeError(error) });
      }
      send(response, error instanceof Refusal ? error.status : 500, {
        error: error instanceof Refusal ? error.message : "The server failed: its log says why",
      });
    });
  });
  try {
    if (Buffer.byteLength(path) > MAX_SOCKET_PATH) {
      throw new Error(`The path is longer than ${MAX_SOCKET_PATH} bytes`);
    }
    await rm(path, { force: true }); // left by a killed server: the directory is locked by this one
    await listen(server, path);
    await chmod(path, SOCKET_MODE);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.warn("commands cannot reach this server while it runs", { socket: path, reason });
  }
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
    await Promise.all(held);
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function answer(
  parts: ControlParts,
  request: IncomingMessage,
  response: ServerResponse,
  held: Set<Promise<void>>,
): Promise<void> {
  const name = request.method === "POST" ? (request.url ?? "").slice(1) : "";
  if (name === "backup") return holdBackup(parts, request, response, held);
  if (!Object.hasOwn(CHANGES, name)) return send(response, 404, { error: "No such command" });
  const body = await readBody(request);
  const result = await CHANGES[name as ChangeName](parts, body);
  parts.log.info("a command was carried out", { command: name });
  send(response, 200, result);
}

/** Names the files of this moment, and keeps them until the connection closes. */
async function holdBackup(
  { directory: own, log }: ControlParts,
  request: IncomingMessage,
  response: ServerResponse,
  held: Set<Promise<void>>,
): Promise<void> {
  request.resume();
  const gone = new Promise<void>((resolve) => response.once("close", resolve));
  const staged = await own.stage();
  const release = gone
    .then(() => staged.release())
    .then(
      () => log.info("a backup has ended"),
      (error: unknown) =>
        log.error("a backup's files are left", {
          directory: staged.directory,
          error: describeError(error),
        }),
    )
    .finally(() => held.delete(release));
  held.add(release);
  log.info("a backup has begun", { files: staged.files.length });
  const { directory, files } = staged;
  response.writeHead(200, { "Content-Type": "application/x-ndjson" });
  response.write(`${JSON.stringify({ directory, files })}\n`);
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const text = await boundedText(request, MAX_BODY_BYTES);
  if (text === undefined) throw new Error("A command is larger than expected");
  return JSON.parse(text) as unknown;
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "Content-Type": "application/json", Connection: "close" });
  response.end(`${JSON.stringify(body)}\n`);
}
