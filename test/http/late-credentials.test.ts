import assert from "node:assert/strict";
import { test } from "node:test";
import { SECOND_MS } from "../../src/core/clock.ts";
import { Unauthenticated } from "../../src/core/errors.ts";
import { Turns } from "../../src/core/scheduling/turns.ts";
import { route } from "../../src/http/route.ts";
import { askerOf } from "../../src/policies/check.ts";
import { serve, until } from "./serve.ts";

const LIMITS = { atOnce: 1, atOnceOfOne: 1, waiting: 4 };
const free = { type: "object", additionalProperties: true } as const;

for (const { what, isLate, lookUp } of [
  { what: "a second", isLate: true, lookUp: "at once" },
  { what: "a second", isLate: true, lookUp: "in a database" },
  { what: "less than a second", isLate: false, lookUp: "at once" },
]) {
  test(`credentials that end while a handler waits ${what} for a turn, looked up ${lookUp}`, async (t) => {
    const turns = new Turns(LIMITS);
    const clients: number[] = [];
    let now = 1_000;
    let hasEnded = false;
    const row = route({
      surfaces: ["v1"],
      access: "user",
      summary: "s",
      tags: ["t"],
      method: "GET",
      path: "/slow",
      replies: { 200: free },
      handle({ client, actor }) {
        clients.push(now);
        return turns.run(askerOf(client, actor), () => ({ answered: true }));
      },
    });
    const known = {
      organization: "default",
      actor: { kind: "key", id: "k", name: "k" } as const,
    };
    const resolve = () => {
      if (hasEnded) throw new Unauthenticated("It was revoked");
      return known;
    };
    const { url } = await serve(t, [row], {
      now: () => now,
      resolveCaller: lookUp === "at once" ? resolve : async () => resolve(),
    });
    const end = await turns.wait(["another"]);
    const answered = fetch(`${url}/api/v1/slow`);
    await until(() => clients.length === 1);
    hasEnded = true;
    now += isLate ? SECOND_MS : SECOND_MS - 1;
    end();
    const { status } = await answered;
    assert.equal(status, isLate ? 401 : 200);
  });
}
