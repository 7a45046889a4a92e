import assert from "node:assert/strict";
import { test } from "node:test";
import { EventStream } from "../../../support/event-stream.ts";
import { start } from "../../../support/start.ts";

const half = "a".repeat(3_500);
const hostile = `${half}b${half}`;

for (const query of [`q=${hostile}`, `wildcards=executor&executor=*${hostile}*`]) {
  test(`long events pass many readers of ${query.slice(0, 10)}… in order, and hold up no other request`, async (t) => {
    const app = await start(t);
    const streams: EventStream[] = [];
    for (let i = 0; i < 20; i++) {
      const stream = await EventStream.open(app.url, `/api/public/audit/stream?${query}`);
      t.after(() => stream.close());
      await stream.block();
      streams.push(stream);
    }
    const long = "a".repeat(60_000);
    const wanted = Array.from({ length: 3 }, (_, i) => ({
      command: `${hostile}${i}`,
      executor: hostile,
    }));
    const events = [
      ...wanted.slice(0, 1),
      ...Array.from({ length: 20 }, () => ({ command: long, executor: long })),
      ...wanted.slice(1),
    ];
    let longest = 0;
    const before = { cpu: process.cpuUsage(), isOver: false };
    const turn = (): void => {
      const { user, system } = process.cpuUsage(before.cpu);
      longest = Math.max(longest, user + system);
      before.cpu = process.cpuUsage();
      if (!before.isOver) setImmediate(turn);
    };
    setImmediate(turn);
    await app.post("/api/public/audit", { events });
    for (const stream of streams) {
      const commands = await stream.commands(3);
      assert.deepEqual(
        commands,
        wanted.map(({ command }) => command),
      );
    }
    before.isOver = true;
    assert.ok(longest < 500_000, `${longest} µs`);
  });
}
