import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** The address of a server that gives every request one answer. */
export async function answering(t: TestContext, status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
