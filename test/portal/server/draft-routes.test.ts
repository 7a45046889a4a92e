import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../../support/start.ts";

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

test("several events are drafted into a given document, and the base is the active version", async (t) => {
  const app = await start(t);
  for (const [id, command] of [
    ["e1", "git push"],
    ["e2", "terraform plan"],
  ]) {
    await app.post("/api/v1/audit", { id, command, provider: command?.split(" ")[0] });
  }
  await app.post("/api/v1/policies", { version: "v1", yaml: ACTIVE });
  const body = { events: ["e1", "e2", "e1"], effect: "allow" };
  const draft = (await app.post("/api/v1/policies/draft-rule", body)).body;
  assert.equal(draft.base_version, "v1");
  const changes = draft.changes.map(({ event, change, rule }: Record<string, unknown>) => [
    ...[event, change, rule],
  ]);
  assert.deepEqual(changes, [
    ["e1", "rule", "allow-git-push"],
    ["e2", "exception", "one"],
    ["e2", "rule", "allow-terraform-plan"],
  ]);
  await app.post("/api/v1/audit", { id: "e3", command: "terraform apply", provider: "terraform" });
  const more = { event: "e3", effect: "allow", yaml: draft.yaml };
  const longer = (await app.post("/api/v1/policies/draft-rule", more)).body;
  assert.match(longer.yaml, /allow-terraform-apply[^]*allow-terraform-plan[^]*allow-git-push/);
  assert.equal(
    (await app.post("/api/v1/policies/validate", { yaml: longer.yaml })).body.valid,
    true,
  );
});

test("a request for a draft names its events in one way, and a document that can be extended", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/audit", { id: "e1", command: "git push" });
  for (const [body, message] of [
    [{}, "event: expected either event or events"],
    [{ event: "e1", events: ["e1"] }, "event: expected either event or events"],
    [{ events: [] }, "events: expected at least one"],
    [{ event: "e1", yaml: "a: [" }, /^yaml: cannot be extended; expected a valid document/],
  ] as const) {
    const answer = await app.post("/api/v1/policies/draft-rule", { effect: "allow", ...body });
    assert.equal(answer.status, 400);
    assert.match(answer.body.error, new RegExp(message));
  }
});

test("a simulation names the line of the rule that decided", async (t) => {
  const app = await start(t);
  const ask = async (command: string) =>
    (await app.post("/api/v1/policies/simulate", { command, yaml: ACTIVE })).body.line;
  assert.equal(await ask("terraform plan"), 5);
  assert.equal(await ask("git push"), undefined);
});
