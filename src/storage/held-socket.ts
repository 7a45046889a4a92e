/**
 * A Unix socket as a sign of life. The kernel knows whether a process listens on it, also for a process of another
 * container, whose number means nothing here.
 */
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { MAX_SOCKET_PATH } from "../core/socket-path.ts";

const SOCKET_MODE = 0o600;

/**
 * Listens on a new path until the process ends. Each connection is closed at once.
 *
 * @returns stops listening and removes the path; `undefined` if the path is too long, or its file system has no sockets
 */
export async function holdSocket(path: string): Promise<(() => Promise<void>) | undefined> {
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH) return undefined;
  const server = createServer((socket) => socket.destroy());
  server.unref();
  server.listen(path);
  try {
    await once(server, "listening");
    await chmod(path, SOCKET_MODE);
  } catch {
    server.close();
    return undefined;
  }
  return () => new Promise((resolve) => server.close(() => resolve()));
}

/**
 * Whether a process of this machine listens on a path; in doubt `true`. `undefined` if the path is too long: versions of
 * Node cut it, and find nothing there. The owner may have listened by a shorter path to the same directory.
 */
export async function isHeld(path: string): Promise<boolean | undefined> {
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH) return undefined;
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return !["ECONNREFUSED", "ENOENT"].includes(code);
  } finally {
    socket.destroy();
  }
}
