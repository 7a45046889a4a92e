import { IncomingMessage } from "node:http";
import { dropRest } from "./cut-off.ts";

/** A piece of a body with fewer bytes is small. Clients that send a body while they make it send longer ones. */
export const SMALL_PIECE_BYTES = 64;
/** The most small pieces of a body in chunks. */
export const MOST_SMALL_PIECES = 2_048;
/** The code of the error for a body with more of them. */
export const SMALL_PIECES = "ERR_SMALL_PIECES";

/**
 * A request whose body may not come in very many small chunks. Node makes a buffer of each chunk, which takes a
 * microsecond, and while no handler reads the body, 150 bytes of memory. It also reads up to 2 MiB of each connection in
 * one turn of the event loop: a hundred connections that sent bodies of one byte a chunk held up all others for a minute.
 */
export class RequestInPieces extends IncomingMessage {
  #small = 0;

  /** Takes the next piece of the body from the parser of Node; `null` is its end. */
  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    if (piece === null || piece.length >= SMALL_PIECE_BYTES) return super.push(piece, encoding);
    if (++this.#small <= MOST_SMALL_PIECES) return super.push(piece, encoding);
    // The pieces of a body with a length are what the network delivers, one in a turn of the event loop.
    if (this.headers["transfer-encoding"] === undefined) return super.push(piece, encoding);
    dropRest(this.socket);
    // Node hands it to the server as it does errors of its parser.
    this.socket.emit("error", Object.assign(new Error("too many chunks"), { code: SMALL_PIECES }));
    return true;
  }
}
