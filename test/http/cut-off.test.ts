import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { dropRest } from "../../src/http/cut-off.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

test("no request objects are made of what is dropped, and the next connection is read again", async (t) => {
  let made = 0;
  class Counted extends IncomingMessage {
    constructor(...given: ConstructorParameters<typeof IncomingMessage>) {
      super(...given);
      made++;
    }
  }
  const server = createServer({ IncomingMessage: Counted }, (request, response) => {
    response.shouldKeepAlive = false;
    response.end("answer");
    dropRest(request.socket);
  });
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  for (const connection of [1, 2, 3]) {
    const client = connect(port, "127.0.0.1", () => client.write(REQUEST.repeat(1_000)));
    assert.match(await text(client), /^HTTP\/1\.1 200 [^]*answer/);
    assert.equal(made, connection);
  }
});
