/** One event of a stream: its data, and the position that the stream was at. */
export interface StreamMessage {
  /** The last `id` that was seen; empty while there was none. */
  readonly id: string;
  /** `undefined` for a block that only tells its position. */
  readonly data: string | undefined;
}

/**
 * Reads Server-Sent Events (HTML Standard §9.2.6) from text that comes in pieces cut anywhere.
 * Browsers read them by themselves with `EventSource`, which cannot send credentials in a header.
 *
 * @returns a function that takes a piece and gives the messages that it completed
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
    // A carriage return at the end may be half of a line's end: it waits for what follows.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    return lines.map(takeLine).filter((message) => message !== undefined);
  };
}
