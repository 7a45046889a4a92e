import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { postNote } from "../../src/signed-logs/post-note.ts";

test("a receiver that switches protocols has given no answer", async (t) => {
  const server = createServer((socket) => {
    const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n";
    socket.once("data", () => socket.write(head));
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  await assert.rejects(
    postNote(`http://127.0.0.1:${port}/`, "note\n", new AbortController().signal),
    /without an answer/,
  );
});
