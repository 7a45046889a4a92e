import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import type { Scope } from "./start.ts";

/** A proxy before a database that can cut connections, and lead to another database. */
export interface CuttingProxy {
  readonly port: number;
  /** Cuts the next connection that sends this text: before the text arrives, or right after it. */
  cutAt(text: string, moment: "before" | "after"): void;
  /** Leads new connections to another port; those that exist stay. */
  leadTo(target: number): void;
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
      const isMeant = cut !== undefined && data.includes(cut.text);
      if (!isMeant) return void database.write(data);
      const { moment } = cut as NonNullable<typeof cut>;
      cut = undefined;
      if (moment === "before") return end();
      client.destroy(); // the database carries it out, and no answer arrives
      database.removeAllListeners("data");
      database.end(data);
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
  };
}
