import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { ownTurn } from "../../src/core/scheduling/yielder.ts";
import { jsonList, StreamReply } from "../../src/http/reply.ts";

const ROWS = Array.from({ length: 300 }, (_, i) => i);

/** Takes a slice for every hundredth row. */
function shown(row: number): object {
  const end = performance.now() + (row % 100 === 0 ? 1 : 0);
  while (performance.now() < end);
  return { row };
}

test("other long work takes turns with the lists of a client, not with each of them", async () => {
  let parts = 0;
  const lists = Array.from({ length: 20 }, async () => {
    const reply = jsonList("rows", ROWS, shown, ["v1", "acme", "192.0.2.1"]);
    assert.ok(reply instanceof StreamReply);
    let text = "";
    const output = new Writable({
      write(part: Buffer, _encoding, done) {
        parts++;
        text += part.toString("utf8");
        done();
      },
    });
    await reply.start(output, new AbortController().signal);
    assert.deepEqual(JSON.parse(text), { rows: ROWS.map((row) => ({ row })) });
  });
  await ownTurn();
  const before = parts;
  await ownTurn();
  await ownTurn();
  assert.ok(parts - before <= 10, `${parts - before} parts came between`);
  await Promise.all(lists);
});
