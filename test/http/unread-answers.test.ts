import assert from "node:assert/strict";
import { test } from "node:test";
import { text } from "../../src/http/reply.ts";
import { route } from "../../src/http/route.ts";
import { UnreadAnswers } from "../../src/http/unread-answers.ts";
import { serve, until } from "./serve.ts";

// More than the buffers of a loopback connection take, so that most of it waits in the process.
const LONG = "x".repeat(16 << 20);
const LIMIT = 24 << 20;

const long = route({
  surfaces: ["portal"],
  access: "open",
  summary: "s",
  tags: ["t"],
  method: "GET",
  path: "/long",
  replies: { 200: "text/plain" },
  handle: () => text(200, "text/plain", LONG),
});

test("unread answers are held up to a limit, and the oldest are cut", async (t) => {
  const unreadAnswers = new UnreadAnswers(LIMIT);
  const { open, requests, url } = await serve(t, [long], { unreadAnswers });
  const stalled = [1, 2, 3].map(() => open());
  for (const [index, { socket, send }] of stalled.entries()) {
    socket.pause();
    send.call(stalled[index], "GET /long HTTP/1.1", "Host: a", "", "");
    await until(() => requests.length === index + 1);
  }
  const cut = requests.map(({ socket }) => socket.destroyed);
  assert.deepEqual(cut, [true, true, false]);
  assert.ok(unreadAnswers.bytes > 0 && unreadAnswers.bytes <= LIMIT, `${unreadAnswers.bytes}`);

  const answer = await fetch(`${url}/long`); // the newest client is served, although others stall
  assert.equal((await answer.text()).length, LONG.length);
});

test("an answer that was read no longer counts", async (t) => {
  const unreadAnswers = new UnreadAnswers(LIMIT);
  const { url } = await serve(t, [long], { unreadAnswers });
  for (let i = 0; i < 3; i++)
    assert.equal((await (await fetch(`${url}/long`)).text()).length, LONG.length);
  await until(() => unreadAnswers.bytes === 0);
});
