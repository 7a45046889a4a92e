import { request as send, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { SentHeaders } from "./client.ts";

/** One block of a stream: the content of its lines. */
export interface StreamBlock {
  readonly id?: string;
  readonly data?: string;
  readonly retry?: string;
  /** A comment's text. */
  readonly comment?: string;
}

/** A reader of Server-Sent Events, or of another response in their place. */
export class EventStream {
  readonly response: IncomingMessage;
  readonly #blocks: AsyncIterator<StreamBlock>;

  constructor(response: IncomingMessage) {
    this.response = response;
    this.#blocks = blocksOf(response);
  }

  /** Opens a stream; the response may also be a refusal. */
  static async open(
    url: string,
    path: string,
    headers: SentHeaders = {},
    localAddress?: string,
  ): Promise<EventStream> {
    const { hostname, port } = new URL(url);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = send({
        ...{ hostname, port, path, headers, agent: false },
        ...(localAddress !== undefined && { localAddress }),
      });
      outgoing.once("response", resolve).once("error", reject);
      outgoing.end();
    });
    return new EventStream(response);
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  /** The next block of any kind; `undefined` when the stream has ended. */
  async block(): Promise<StreamBlock | undefined> {
    const next = await this.#blocks.next();
    return next.done ? undefined : next.value;
  }

  /** The next event with its data parsed; `undefined` when the stream has ended. */
  async event(): Promise<{ readonly id: string; readonly data: StreamData } | undefined> {
    for (let block = await this.block(); block; block = await this.block()) {
      if (block.data === undefined) continue;
      return { id: block.id ?? "", data: JSON.parse(block.data) as StreamData };
    }
    return undefined;
  }

  /** The commands of the next events. */
  async commands(count: number): Promise<readonly (string | undefined)[]> {
    const found: (string | undefined)[] = [];
    while (found.length < count) found.push((await this.event())?.data.command);
    return found;
  }

  /** The whole body, if the response is not a stream. */
  body(): Promise<string> {
    return text(this.response);
  }

  close(): void {
    this.response.destroy();
  }
}

interface StreamData {
  readonly id: string;
  readonly command?: string;
}

async function* blocksOf(response: IncomingMessage): AsyncGenerator<StreamBlock> {
  let rest = "";
  response.setEncoding("utf8");
  try {
    for await (const piece of response) {
      const blocks = (rest + String(piece)).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) yield readBlock(block);
    }
  } catch (error) {
    if (!response.destroyed) throw error; // a stream that was cut has ended as well
  }
}

function readBlock(block: string): StreamBlock {
  const fields = block.split("\n").map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon) || "comment", line.slice(colon + 1).trimStart()];
  });
  return Object.fromEntries(fields) as StreamBlock;
}
