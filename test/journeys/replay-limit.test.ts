/** The limit of a replay's work, on one engine only: no engine takes part in it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../support/start.ts";

test("a document that takes too much work is refused, and the server answers meanwhile", async (t) => {
  const app = await start(t);
  // Steps depend on the lengths alone. A piece of one character is searched in far less time than longer ones.
  const globs = [..."bcdef"]
    .flatMap((last) => Array.from({ length: 400 }, (_, i) => `${"*a".repeat(i)}*${last}*`))
    .map((glob) => `{ glob: "${glob}" }`)
    .join(", ");
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
