import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { postNote } from "../../src/signed-logs/post-note.ts";

/** The address of a receiver that sends a text, and then nothing. */
async function receiverOf(t: TestContext, text: string): Promise<string> {
  const server = createServer((socket) => {
    socket.once("data", () => socket.write(text));
    socket.on("error", () => undefined);
    t.after(() => socket.destroy());
  });
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const EARLY = "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

test("a receiver that switches protocols has given no answer", async (t) => {
  const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n";
  const url = await receiverOf(t, head);
  await assert.rejects(postNote(url, "note\n", new AbortController().signal), /without an answer/);
});

test("an answer after some 1xx responses counts, and after many the receiver is left", async (t) => {
  const { signal } = new AbortController();

  const answer = await postNote(await receiverOf(t, EARLY.repeat(16) + OK), "note\n", signal);

  assert.deepEqual(answer, { status: 200, text: "ok" });
  const flood = await receiverOf(t, EARLY.repeat(17));
  await assert.rejects(postNote(flood, "note\n", signal), /More 1xx responses/);
});
