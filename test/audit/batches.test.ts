import assert from "node:assert/strict";
import { test } from "node:test";
import { LARGE_BATCH_EVENTS } from "../../src/audit/routes.ts";
import type { AuditEvent } from "../../src/audit/schema.ts";
import type { Stored } from "../../src/audit/store.ts";
import { until } from "../http/serve.ts";
import { MemoryAudit } from "../support/memory-audit.ts";
import { serveAudit, type ServedAudit } from "./serve-audit.ts";

/** A store that stores each batch when the test says so. */
class WaitingAudit extends MemoryAudit {
  /** The number of events of each batch that waits, and the step that stores it. */
  readonly batches: { readonly count: number; readonly store: () => void }[] = [];

  override append(organization: string, events: readonly AuditEvent[], stored: Stored): void {
    const store = (): void => super.append(organization, events, stored);
    this.batches.push({ count: events.length, store });
  }
}

/** Sends a body on a new connection. */
function send(app: ServedAudit, value: unknown, address?: string) {
  const body = JSON.stringify(value);
  const connection = app.open(address);
  connection.send(
    ...["POST /api/public/audit HTTP/1.1", "Host: test", "Content-Type: application/json"],
    ...[`Content-Length: ${body.length}`, "", body],
  );
  return connection.next();
}

const batchOf = (count: number) => ({ events: Array(count).fill({ ai: true }) });

test("few large batches are stored at a time, and other reports do not wait for them", async (t) => {
  const store = new WaitingAudit();
  const app = await serveAudit(t, {}, store);
  const report = (count: number, address?: string) => send(app, batchOf(count), address);
  const large = LARGE_BATCH_EVENTS + 1;
  const answers = Array.from({ length: 6 }, () => report(large));
  await until(() => app.requests.length === 6);
  answers.push(report(LARGE_BATCH_EVENTS), report(1), report(large, "127.0.0.2"));
  await until(() => store.batches.length === 4);
  const counts = store.batches.map(({ count }) => count);
  assert.deepEqual(
    counts.sort((a, b) => b - a),
    [large, large, LARGE_BATCH_EVENTS, 1],
  );
  for (let stored = 0; stored < answers.length; stored++) {
    await until(() => store.batches.length > stored);
    assert.ok(store.batches.length <= stored + 4);
    store.batches[stored]?.store();
  }
  for (const answer of answers) assert.equal((await answer).status, 202);
});

/** A batch that is not drafted in one slice of the work. */
const LONG_BATCH = { events: [{ command: "TOKEN=a; ".repeat(10_000) }] };

for (const [what, report] of [
  ["batches", LONG_BATCH],
  ["events", LONG_BATCH.events[0]],
] as const) {
  test(`long ${what} take turns to be drafted, and other reports do not wait for them`, async (t) => {
    const app = await serveAudit(t);
    const users = ["a", "b"]; // as many as an organization may have
    const ends = await Promise.all(
      users.map((user) => app.batches.wait(["public", "default", user])),
    );
    let isAnswered = false;
    const long = send(app, report).finally(() => (isAnswered = true));
    await until(() => app.requests.length === 1);
    assert.equal((await send(app, { command: "ls" })).status, 202);
    assert.equal((await send(app, batchOf(2))).status, 202);
    assert.equal(isAnswered, false);
    for (const end of ends) end();
    assert.equal((await long).status, 202);
  });
}

test("a long event whose client has left takes no more turns, and is not stored", async (t) => {
  const app = await serveAudit(t);
  const ends = await Promise.all(
    ["a", "b"].map((user) => app.batches.wait(["public", "default", user])),
  );
  const connection = app.open();
  connection.post("/api/public/audit", JSON.stringify(LONG_BATCH.events[0]));
  await until(() => app.requests.length === 1);
  connection.socket.destroy();
  await until(() => app.requests[0]?.socket.destroyed === true);
  for (const end of ends) end();
  assert.equal((await send(app, LONG_BATCH)).status, 202); // its turn comes after that of the other
  const { total } = (await (await fetch(`${app.url}/api/public/audit`)).json()) as {
    total: number;
  };
  assert.equal(total, 1);
});

test("one address leaves turns of batches to the other addresses", async (t) => {
  const app = await serveAudit(t);
  for (let i = 0; i < 10; i++) void app.batches.wait(["public", "default", "a"]);
  assert.equal((await send(app, LONG_BATCH)).status, 202);
});
