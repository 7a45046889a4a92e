/** A server that checkpoints are posted to. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import type { Scope } from "./start.ts";

/** A request to the receiver. */
export interface ReceivedNote {
  readonly request: IncomingMessage;
  readonly note: string;
}

/** The status and text of an answer; `undefined` for no answer at all. */
export type NoteReply =
  | readonly [status: number, text?: string, headers?: Record<string, string>]
  | undefined;

/** Receives notes, and answers each as the test says. */
export class NoteReceiver {
  readonly url: string;
  readonly received: ReceivedNote[] = [];
  /** The answer to the next notes. */
  reply: (note: string) => NoteReply = () => [204];
  #arrived = (): void => {};

  readonly #server: Server;

  private constructor(url: string, server: Server) {
    this.url = url;
    this.#server = server;
  }

  /** Ends the receiver, and every request that it has not answered. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** The notes that have arrived, in their order. */
  get notes(): readonly string[] {
    return this.received.map(({ note }) => note);
  }

  /** Name and size of the checkpoints that have arrived, such as `signalbox/default/audit 3`. */
  get sizes(): readonly string[] {
    return this.notes.map((note) => note.split("\n").slice(0, 2).join(" "));
  }

  /** Starts a receiver on a free port, which ends with the test. */
  static async start(t: Scope): Promise<NoteReceiver> {
    const server = createServer((request, response) => {
      void textOf(request).then((note) => {
        own.received.push({ request, note });
        const reply = own.reply(note);
        if (reply !== undefined) response.writeHead(reply[0], reply[2]).end(reply[1] ?? "");
        own.#arrived();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const own = new NoteReceiver(`http://127.0.0.1:${port}`, server);
    t.after(async () => own.close());
    return own;
  }

  /** Resolves when this many notes have arrived since the start. */
  async got(count: number): Promise<void> {
    while (this.received.length < count) {
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
  }
}
