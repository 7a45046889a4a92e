import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Connections } from "../../src/http/connections.ts";

test("connections that have closed are not kept in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const connections = new Connections(1_000, true);
  const closed: WeakRef<EventEmitter>[] = [];
  for (let round = 0; round < 5; round++) {
    const sockets = Array.from({ length: 100 }, () =>
      Object.assign(new EventEmitter(), { remoteAddress: "192.0.2.1", resume() {} }),
    );
    for (const socket of sockets) connections.add(socket as unknown as Socket);
    for (const socket of sockets) {
      socket.emit("close");
      closed.push(new WeakRef(socket));
    }
  }
  for (let n = 0; n < 3; n++) {
    await turn();
    collect();
  }
  // The last round may still be on the stack.
  const kept = closed.slice(0, 400).filter((one) => one.deref() !== undefined);
  assert.equal(kept.length, 0);
  assert.equal(connections.latest.size, 0);
});

test("a connection that was reset before it was accepted is closed, and takes no other's place", () => {
  const connections = new Connections(1, true);
  const socketOf = (remoteAddress: string | undefined) => {
    const destroyed: string[] = [];
    const destroy = (): void => void destroyed.push("yes");
    return Object.assign(new EventEmitter(), { remoteAddress, resume() {}, destroy, destroyed });
  };
  const [open, reset] = [socketOf("192.0.2.1"), socketOf(undefined)];
  for (const socket of [open, reset]) connections.add(socket as unknown as Socket);
  assert.deepEqual([open.destroyed, reset.destroyed], [[], ["yes"]]);
  assert.equal(connections.latest.size, 1);
});
