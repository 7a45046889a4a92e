import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import type { Scope } from "./start.ts";

/** A proxy before a database that can cut connections, and lead to another database. */
export interface CuttingProxy {
  readonly port: number;
  /** Cuts the next connection that sends this text: before the text arrives, or when its answer begins. */
  cutAt(text: string, moment: "before" | "after"): void;
  /** Leads new connections to another port; those that exist stay. */
  leadTo(target: number): void;
  /** Passes nothing on, until it is thawed. */
  freeze(): void;
  thaw(): void;
}

/** Starts a proxy on 127.0.0.1 before a port of it. */
export async function startCuttingProxy(t: Scope, target: number): Promise<CuttingProxy> {
  let port = target;
  let cut: { readonly text: string; readonly moment: "before" | "after" } | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(port, "127.0.0.1");
    const end = (): void => {
      client.destroy();
      database.destroy();
    };
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    client.on("data", (data) => {
      if (cut !== undefined && data.includes(cut.text)) {
        const { moment } = cut;
        cut = undefined;
        if (moment === "before") return end();
        database.removeAllListeners("data").once("data", end);
      }
      database.write(data);
    });
    database.on("data", (data) => client.write(data));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return {
    port: (server.address() as AddressInfo).port,
    cutAt: (text, moment) => void (cut = { text, moment }),
    leadTo: (other) => void (port = other),
    freeze: () => sockets.forEach((socket) => socket.pause()),
    thaw: () => sockets.forEach((socket) => socket.resume()),
  };
}
