import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../support/start.ts";

const ACTIVE = `# ours
schema: signalbox/policy/v1
default: deny
rules:
  - id: one
    effect: deny
    match: { providers: [terraform] }
`;

test("a rule is drafted from an event into the active policy, and nothing is stored", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/audit", { id: "e1", command: "git push", consumer: "ai" });
  assert.equal((await app.post("/api/v1/policies", { yaml: ACTIVE })).status, 201);
  const body = { event: "e1", effect: "allow" };
  const { status, body: answer } = await app.post("/api/v1/policies/draft-rule", body);
  assert.equal(status, 200);
  assert.match(answer.yaml, /^# ours\n[^]*- id: allow-git-push\n[^]*- id: one\n[^]*tests:\n/);
  const question = { yaml: answer.yaml, command: "git push", consumer: "ai" };
  const verdict = (await app.post("/api/v1/policies/simulate", question)).body;
  assert.deepEqual([verdict.decision, verdict.rule], ["ALLOWED", "allow-git-push"]);
  assert.equal((await app.get("/api/v1/policies")).body.policies.length, 1);
});

test("without an active policy the draft is a new document", async (t) => {
  const app = await start(t);
  await app.post("/api/public/audit", { id: "e1", command: "git push" });
  const body = { event: "e1", effect: "deny" };
  const answer = await app.post("/api/public/policies/draft-rule", body);
  assert.match(answer.body.yaml, /^# This document stands alone/);
});

test("an unknown event is 404, and an event without a value to match is 400", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/audit", { id: "e1", provider: "*" });
  const status = async (event: string) =>
    (await app.post("/api/v1/policies/draft-rule", { event, effect: "deny" })).status;
  assert.deepEqual([await status("none"), await status("e1")], [404, 400]);
});
