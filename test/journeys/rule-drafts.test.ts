/** The denials of a day: each one becomes a rule that works. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DAY_MS } from "../../src/core/clock.ts";
import { start } from "../support/start.ts";

interface Denial {
  readonly id: string;
  readonly command: string;
}

interface Change {
  readonly event: string;
  readonly change: "rule" | "exception" | "none";
  readonly rule: string | null;
  readonly line: number;
}

const app = await start({ after }, { demo: true });

async function denialsOfLastDay(): Promise<readonly Denial[]> {
  const from = new Date(app.now - DAY_MS).toISOString();
  const path = `/api/public/audit?decision=DENIED&limit=1000&from=${from}`;
  const { status, body } = await app.get(path);
  assert.equal(status, 200, JSON.stringify(body));
  return body.events;
}

/** Drafts rules that allow some denials, and checks that the document is valid, its tests included. */
async function validDraft(events: readonly Denial[]) {
  const body = { events: events.map(({ id }) => id), effect: "allow" };
  const { status, body: draft } = await app.post("/api/public/policies/draft-rule", body);
  assert.equal(status, 200, JSON.stringify(draft));
  const { yaml } = draft;
  const checked = (await app.post("/api/public/policies/validate", { yaml })).body;
  assert.deepEqual(checked.problems, [], yaml);
  return draft as { yaml: string; base_version: string; changes: readonly Change[] };
}

test("every denial of the demo's last day makes a valid draft, which allows the command", async () => {
  const denials = await denialsOfLastDay();
  assert.ok(denials.length > 30);
  const kinds = new Map<string, number>();
  for (const denial of denials) {
    const { yaml, changes } = await validDraft([denial]);
    const facts = { ...denial, yaml };
    for (const { change, rule, line } of changes) {
      kinds.set(change, (kinds.get(change) ?? 0) + 1);
      const shown = yaml.split("\n")[line - 1] ?? "";
      if (change === "exception") assert.match(shown, /^ +- commands:/);
      if (change === "rule") assert.ok(shown.includes(`id: ${rule}`), shown);
    }
    const { command, provider, capability, consumer, executor, resource } = facts as never;
    const question = { yaml, command, provider, capability, consumer, executor, resource };
    assert.equal(
      (await app.post("/api/public/policies/simulate", question)).body.decision,
      "ALLOWED",
    );
  }
  assert.ok((kinds.get("exception") ?? 0) > 0, JSON.stringify([...kinds]));
});

test("all of them together make one valid draft, which can be published", async () => {
  const denials = (await denialsOfLastDay()).slice(0, 50);
  const { yaml, base_version, changes } = await validDraft(denials);
  assert.deepEqual(
    new Set(changes.map(({ event }) => event)),
    new Set(denials.map(({ id }) => id)),
  );
  assert.equal((await app.get("/api/public/policies")).body.active, base_version);
  assert.equal((await app.post("/api/public/policies", { yaml })).status, 201);
});
