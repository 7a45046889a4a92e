import assert from "node:assert/strict";
import { test } from "node:test";
import {
  streamReader,
  type StreamMessage,
} from "../../../src/portal/browser/server-sent-events.ts";

const TEXT =
  ': hello\r\nretry: 3000\nid: a\n\nid: b\rdata: {"x":\rdata:1}\r\r: keep-alive\n\ndata\n\nid: c\ndata: é\n\n';
const MESSAGES: readonly StreamMessage[] = [
  { id: "a", data: undefined },
  { id: "b", data: '{"x":\n1}' },
  { id: "b", data: "" },
  { id: "c", data: "é" },
];

test("the cuts between pieces do not change the messages", () => {
  for (let size = 1; size <= TEXT.length; size++) {
    const read = streamReader();
    const found: StreamMessage[] = [];
    for (let at = 0; at < TEXT.length; at += size) found.push(...read(TEXT.slice(at, at + size)));
    assert.deepEqual(found, MESSAGES, `pieces of ${size}`);
  }
});

test("an unfinished message is not returned", () => {
  assert.deepEqual(streamReader()("id: a\ndata: 1\n"), []);
});
