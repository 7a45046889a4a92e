import type { ClientRequest, IncomingMessage } from "node:http";
import { boundedText } from "../core/bounded-text.ts";

/** The longest answer that is kept, in bytes: 16 lines of signatures of usual keys. */
const MAX_ANSWER = 16 << 10;
/** The most 1xx responses before the answer: each is parsed, and a receiver could send them until the time limit. */
const MAX_INFORMATION = 16;

/** An answer to a posted note. */
export interface NoteAnswer {
  readonly status: number;
  /** Empty if the text is too long for signatures. */
  readonly text: string;
  /** Why a note was not taken, if the status does not tell. */
  readonly problem?: string;
}

/**
 * Posts a signed note. Redirects are not followed. The user and password of the URL are sent as Basic credentials.
 *
 * @param signal ends the request
 * @throws Error with a `code`, and possibly with a part of the URL in its message
 */
export async function postNote(
  url: string,
  note: string,
  signal: AbortSignal,
): Promise<NoteAnswer> {
  const address = new URL(url);
  const { request } = await import(address.protocol === "https:" ? "node:https" : "node:http");
  const headers = {
    ...{ "Content-Type": "text/plain; charset=utf-8", "User-Agent": "signalbox" },
    "Content-Length": Buffer.byteLength(note),
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent: ClientRequest = request(address, { method: "POST", headers, signal }, resolve);
    sent.once("error", reject).end(note);
    let informed = 0;
    sent.on("information", () => {
      if (++informed > MAX_INFORMATION) sent.destroy(new Error("More 1xx responses than expected"));
    });
    // After a 101, Node closes the connection without an error or a response.
    sent.once("close", () => reject(new Error("The connection was closed without an answer")));
  });
  const { statusCode: status = 0 } = response;
  return { status, text: (await boundedText(response, MAX_ANSWER)) ?? "" };
}
