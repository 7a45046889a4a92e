/** One event of a stream: its data and its position. */
export interface StreamMessage {
  /** The last `id` received; empty before the first one. */
  readonly id: string;
  /** `undefined` for a block that contains only a position. */
  readonly data: string | undefined;
}

/**
 * Parses Server-Sent Events (HTML Standard §9.2.6) from text in pieces that may be cut anywhere. The
 * browser's own `EventSource` cannot send credentials in a header.
 *
 * @returns a function that takes a piece and returns the messages that it completed
 */
export function streamReader(): (piece: string) => readonly StreamMessage[] {
  let rest = "";
  let id = "";
  let hasId = false;
  let data: string[] = [];
  const takeLine = (line: string): StreamMessage | undefined => {
    if (line === "") {
      const message = { id, data: data.length > 0 ? data.join("\n") : undefined };
      const says = hasId || message.data !== undefined;
      [hasId, data] = [false, []];
      return says ? message : undefined;
    }
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "id" && !value.includes("\0")) [id, hasId] = [value, true];
    return undefined;
  };
  return (piece) => {
    const text = rest + piece;
    // A carriage return at the end may be half of a line end: it waits for the next piece.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    return lines.map(takeLine).filter((message) => message !== undefined);
  };
}

/** The messages of a response as they arrive: those that each piece completed, which may be none. */
export async function* messagesOf({ body }: Response): AsyncGenerator<readonly StreamMessage[]> {
  const read = streamReader();
  const pieces = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await pieces?.read(); part?.done === false; part = await pieces?.read()) {
    yield read(part.value);
  }
}
