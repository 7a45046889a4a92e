import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  cursorOf,
  positionFault,
  readCursor,
  readStreamId,
  streamIds,
} from "../../src/audit/cursor.ts";
import { filterOf } from "../../src/audit/filter.ts";
import { UnknownPosition } from "../../src/audit/store.ts";
import { BadInput } from "../../src/core/errors.ts";
import { anyText } from "../support/any-text.ts";

const NONE = filterOf({});
const PLACE = Buffer.from("\u0000some place");
const CURSOR = cursorOf(PLACE, "acme", NONE);
const STREAM_ID = streamIds("acme")(PLACE);

function refuses(name: string, read: () => unknown): void {
  assert.throws(
    read,
    (error) => error instanceof BadInput && error.message.startsWith(`${name}: `),
  );
}

test("the store's position is read back as it was written", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
      const position = Buffer.from(bytes);
      const text = cursorOf(position, "acme", NONE);
      assert.match(text, /^[\w-]+$/);
      assert.deepEqual(readCursor(text, "acme", NONE), position);
      assert.deepEqual(readStreamId(streamIds("acme")(position), "acme"), position);
    }),
  );
});

test("a cursor belongs to the meaning of its filters, and to its organization", () => {
  const denied = cursorOf(PLACE, "acme", filterOf({ decision: "denied" }));
  assert.deepEqual(readCursor(denied, "acme", filterOf({ decision: "DENIED" })), PLACE);
  refuses("cursor", () => readCursor(denied, "acme", NONE));
  refuses("cursor", () => readCursor(denied, "acme", filterOf({ q: "DENIED" })));
  refuses("cursor", () => readCursor(CURSOR, "other", NONE));
  refuses("Last-Event-ID", () => readStreamId(STREAM_ID, "other"));
});

test("a cursor is not accepted as a stream position, nor the reverse", () => {
  refuses("Last-Event-ID", () => readStreamId(CURSOR, "acme"));
  refuses("cursor", () => readCursor(STREAM_ID, "acme", NONE));
});

test("an unknown position is the client's fault, any other error of the store is not", () => {
  assert.ok(positionFault("cursor", new UnknownPosition()) instanceof BadInput);
  const error = new Error("EIO");
  assert.equal(positionFault("cursor", error), error);
});

test("any other text is refused", () => {
  const spoiled = [`${CURSOR}=`, ` ${CURSOR}`, CURSOR.slice(0, 17)];
  for (const text of ["x", "ünicode", "0", CURSOR.replace(/.$/, "+"), ...spoiled]) {
    refuses("cursor", () => readCursor(text, "acme", NONE));
    refuses("Last-Event-ID", () => readStreamId(text, "acme"));
  }
  fc.assert(
    fc.property(anyText(), (text) => {
      refuses("cursor", () => readCursor(text, "acme", NONE));
      refuses("Last-Event-ID", () => readStreamId(text, "acme"));
    }),
  );
});
