import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { isObject } from "../core/validate.ts";
import type { ChangeName } from "./changes.ts";
import { MAX_SOCKET_PATH } from "../core/socket-path.ts";

/** The files of one moment in a running server's directory. */
export interface HeldBackup {
  readonly directory: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** Lets the server drop the files; throws if the server ended before, since the files may be gone then. */
  release(): void;
}

/**
 * Requests a change from the server behind a socket.
 *
 * @returns the answer; `undefined` if no server listens there
 * @throws Error with the server's message if it refuses
 */
export async function askForChange(
  socket: string,
  name: ChangeName,
  body: object,
): Promise<unknown> {
  const response = await send(socket, name, body);
  if (!response) return undefined;
  let text = "";
  for await (const piece of response.setEncoding("utf8") as AsyncIterable<string>) text += piece;
  return checked(response, text);
}

/** Requests the files of a backup from the server behind a socket; `undefined` if no server listens there. */
export async function askForBackup(socket: string): Promise<HeldBackup | undefined> {
  const response = await send(socket, "backup", {});
  if (!response) return undefined;
  let isCut = false;
  let text = "";
  await new Promise<void>((resolve) => {
    response.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.includes("\n")) resolve();
    });
    response.on("error", () => {}); // the response also closes then
    response.on("close", () => {
      isCut = true;
      resolve();
    });
  });
  const { directory, files } = checked(response, text) as HeldBackup;
  return {
    directory,
    files,
    release() {
      if (isCut) throw new Error("The server stopped while it was copied: try again");
      response.destroy();
    },
  };
}

async function send(
  socketPath: string,
  name: string,
  body: object,
): Promise<IncomingMessage | undefined> {
  // No server listens at a longer path, and each version of Node reports it differently.
  if (Buffer.byteLength(socketPath) > MAX_SOCKET_PATH) return undefined;
  const outgoing = request({ socketPath, method: "POST", path: `/${name}` });
  outgoing.end(JSON.stringify(body));
  try {
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    return response;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ECONNREFUSED") return undefined;
    throw error;
  }
}

function checked(response: IncomingMessage, text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (response.statusCode === 200) return value;
  const error: unknown = isObject(value) ? value["error"] : undefined;
  throw new Error(typeof error === "string" ? error : "The server gave no answer");
}
