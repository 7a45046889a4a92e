import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { test } from "node:test";
import { StreamReply, TextReply } from "../../src/http/reply.ts";
import { draftPolicy } from "../../src/policies/draft.ts";
import { answerList, answerSummaries, answerVersion } from "../../src/policies/listing.ts";
import { MemoryPolicies } from "../support/memory-policies.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");

async function storeOf(...texts: readonly string[]): Promise<MemoryPolicies> {
  const policies = new MemoryPolicies();
  for (const [index, yaml] of texts.entries()) {
    await policies.publish("acme", draftPolicy({ yaml, version: `v${index + 1}` }, NOW, undefined));
  }
  return policies;
}

function etagOf(reply: { readonly headers: readonly string[] }): string {
  return reply.headers[reply.headers.indexOf("ETag") + 1] ?? "";
}

async function small(policies: MemoryPolicies, tag?: string): Promise<TextReply> {
  const reply = await answerList("acme", policies, tag);
  assert.ok(reply instanceof TextReply);
  return reply;
}

async function large(policies: MemoryPolicies): Promise<StreamReply> {
  const reply = await answerList("acme", policies, undefined);
  assert.ok(reply instanceof StreamReply);
  return reply;
}

test("a list names the active version and contains every whole policy", async () => {
  const policies = await storeOf("a: 1", "a: 2");
  const { status, body } = await small(policies);
  assert.equal(status, 200);
  const expected = { active: "v2", policies: policies.list("acme") };
  assert.deepEqual(JSON.parse(String(body)), JSON.parse(JSON.stringify(expected)));
});

test("without policies the active version is empty", async () => {
  const { body } = await small(await storeOf());
  assert.deepEqual(JSON.parse(String(body)), { active: "", policies: [] });
});

test("a client with the current list gets a 304, until anything in it changes", async () => {
  const policies = await storeOf("a: 1", "a: 2");
  const tag = etagOf(await small(policies));
  const again = await small(policies, `W/${tag}`);
  assert.deepEqual([again.status, again.body], [304, undefined]);
  assert.equal(etagOf(again), tag);
  await policies.activate("acme", "v1", "2026-11-20T20:31:00.000Z", "ada");
  assert.equal((await small(policies, tag)).status, 200);
});

test("a large list is streamed as the same JSON", async () => {
  const policies = await storeOf("a: 1", `a: ${"x".repeat(1 << 20)}`);
  const reply = await large(policies);
  assert.equal(reply.contentType, "application/json; charset=utf-8");
  const output = new PassThrough();
  const received = textOf(output);
  await reply.start(output, new AbortController().signal);
  output.end();
  const expected = { active: "v2", policies: policies.list("acme") };
  assert.deepEqual(JSON.parse(await received), JSON.parse(JSON.stringify(expected)));
});

test("the texts of a list are read in portions of some versions and bytes", async (t) => {
  const long = ["x".repeat(1 << 20), "y".repeat(200_000), "z".repeat(100_000)];
  const policies = await storeOf(...Array<string>(250).fill("a: 1"), ...long, "a: 2");
  const texts = t.mock.method(policies, "texts");
  const output = new PassThrough();
  const received = textOf(output);
  await (await large(policies)).start(output, new AbortController().signal);
  output.end();
  const expected = { active: "v254", policies: policies.list("acme") };
  assert.deepEqual(JSON.parse(await received), JSON.parse(JSON.stringify(expected)));
  const portions = texts.mock.calls.map(({ arguments: [, versions] }) => versions);
  assert.equal(portions.flat().length, 254);
  for (const portion of portions) {
    const bytes = portion.reduce((sum, version) => sum + version.bytes, 0);
    assert.ok(portion.length <= 100 && (bytes <= 1 << 18 || portion.length === 1), `${bytes}`);
  }
  assert.ok(portions.length <= 7, `${portions.length}`);
});

test("the texts of a large list are sent in small parts, which leave every character whole", async () => {
  const policies = await storeOf("a: 1", `a: b${"😀\n".repeat(300_000)}`);
  const reply = await large(policies);
  const parts: string[] = [];
  const output = new Writable({
    decodeStrings: false,
    write(part: string, _encoding, done) {
      parts.push(part);
      done();
    },
  });
  await reply.start(output, new AbortController().signal);
  assert.ok(parts.every(({ length }) => length <= 128 * 1024));
  const expected = { active: "v2", policies: policies.list("acme") };
  assert.deepEqual(JSON.parse(parts.join("")), JSON.parse(JSON.stringify(expected)));
});

test("a long version is sent in small parts as well, and its tag is that of its content", async () => {
  const policies = await storeOf("a: 1", `a: b${'"😀\n'.repeat(100_000)}`);
  const [policy] = policies.list("acme");
  assert.ok(policy);
  const reply = await answerVersion(policy, undefined);
  assert.ok(reply instanceof StreamReply);
  const output = new PassThrough();
  const received = textOf(output);
  await reply.start(output, new AbortController().signal);
  output.end();
  assert.deepEqual(JSON.parse(await received), JSON.parse(JSON.stringify(policy)));
  const again = await answerVersion({ ...policy }, etagOf(reply));
  assert.ok(again instanceof TextReply);
  assert.equal(again.status, 304);
  const inactive = await answerVersion({ ...policy, active: false }, undefined);
  assert.ok(inactive instanceof StreamReply);
  assert.notEqual(etagOf(inactive), etagOf(reply));
});

test("many large lists that are sent at once share the slices of the event loop", async (t) => {
  const policies = await storeOf("a: 1", `a: ${"x".repeat(1 << 20)}`);
  let sent = 0;
  let mostInATurn = 0;
  let isOver = false;
  const count = (): void => {
    mostInATurn = Math.max(mostInATurn, sent);
    sent = 0;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  t.after(() => (isOver = true));
  const lists = Array.from({ length: 20 }, async () => {
    const output = new Writable({
      write(part: Buffer, _encoding, done) {
        sent += part.length;
        setImmediate(done); // as on a socket, which takes a part in a later turn
      },
    });
    await (await large(policies)).start(output, new AbortController().signal);
  });
  await Promise.all(lists);
  assert.ok(mostInATurn < 2 << 20, `${mostInATurn} bytes were made in one turn`);
});

test("a long list without texts is streamed as well, and has its own tag", async () => {
  const policies = await storeOf("a: 1");
  for (let i = 0; i < 300; i++) {
    const body = { yaml: "a: 1", version: `long${i}`, description: "x".repeat(4_000) };
    await policies.publish("acme", draftPolicy(body, NOW, undefined));
  }
  const reply = await answerSummaries("acme", policies, undefined);
  assert.ok(reply instanceof StreamReply);
  const output = new PassThrough();
  const received = textOf(output);
  await reply.start(output, new AbortController().signal);
  output.end();
  const summaries = policies.versions("acme").map(({ policy }) => policy);
  assert.deepEqual(JSON.parse(await received), { active: "long299", policies: summaries });
  assert.notEqual(etagOf(reply), etagOf(await large(policies)));
  assert.ok((await answerSummaries("acme", policies, etagOf(reply))) instanceof TextReply);
});

test("a reader that disconnects ends the stream", async () => {
  const reply = await large(await storeOf(`a: ${"x".repeat(1 << 20)}`, "a: 1"));
  const gone = new AbortController();
  const stuck = new Writable({ highWaterMark: 1, write: () => gone.abort() });
  await assert.rejects(reply.start(stuck, gone.signal), { name: "AbortError" });
});
