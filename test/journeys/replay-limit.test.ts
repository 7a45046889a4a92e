/** The limit of a replay's work. It takes a minute of a processor to reach, so it is tried on one engine only. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../support/start.ts";

test("a document that takes too much work is refused, and the server answers meanwhile", async (t) => {
  const app = await start(t);
  const globs = Array.from(
    { length: 2_000 },
    (_, i) => `{ glob: "${"*a".repeat(200)}*b${i}*" }`,
  ).join(", ");
  const yaml = `schema: signalbox/policy/v1\nrules: [{ id: r, effect: deny, match: { commands: [${globs}] } }]`;
  const command = "a".repeat(1 << 19);
  const events = Array.from({ length: 12 }, (_, i) => ({
    command: `${command}${i}`,
    decision: "allowed",
  }));
  assert.equal((await app.post("/api/v1/audit", { events })).status, 202);
  const replay = app.post("/api/v1/policies/replay", { yaml, base: "recorded" });
  assert.equal((await app.get("/health")).status, 200);
  const { status, body } = await replay;
  assert.equal(status, 400);
  assert.match(body.error, /^The replay takes more than [\d,]+ steps .*: choose fewer events/);
});
