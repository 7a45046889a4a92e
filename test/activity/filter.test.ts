import assert from "node:assert/strict";
import { test } from "node:test";
import { matcherOf, type ActivityFilter } from "../../src/activity/filter.ts";
import { entryOf, T0 } from "./store-suite.ts";

const byUser = entryOf(0, { target: { type: "key", id: "k1", name: "ci" }, action: "key.create" });
const byKey = entryOf(0, { actor: { kind: "key", id: "k1", name: "Runner" } });
const byNobody = entryOf(0, { actor: { kind: "anonymous" }, action: "login.failed" });

for (const [filter, fitting] of [
  [{}, [byUser, byKey, byNobody]],
  [{ action: "key.create" }, [byUser]],
  [{ action: "key" }, [byUser]],
  [{ action: "key." }, []],
  [{ action: "create" }, []],
  [{ actor: "u1" }, [byUser]],
  [{ actor: "ADA@example.com" }, [byUser]],
  [{ actor: "ada" }, []],
  [{ actor: "runner" }, [byKey]],
  [{ actor: "anonymous" }, [byNobody]],
  [{ target: "k1" }, [byUser]],
  [{ target: "ci" }, [byUser]],
  [{ target: "CI" }, []],
  [{ q: "LOGIN" }, [byNobody]],
  [{ q: "192.0.2" }, [byUser, byKey, byNobody]],
  [{ q: "runn" }, [byKey]],
  [{ q: "ci" }, [byUser]],
  [{ q: "r0" }, [byUser, byKey, byNobody]],
  [{ q: "failed192" }, []],
  [{ from: T0, to: T0 + 1 }, [byUser, byKey, byNobody]],
  [{ from: T0 + 1 }, []],
  [{ to: T0 }, []],
  [{ q: "k1", action: "policy.publish" }, [byKey]],
] as const satisfies readonly (readonly [ActivityFilter, readonly unknown[]])[]) {
  test(`${JSON.stringify(filter)} takes what fits it`, () => {
    assert.deepEqual([byUser, byKey, byNobody].filter(matcherOf(filter)), fitting);
  });
}

test("an entry without address and target id matches every filter except those on address and target id", () => {
  const { address: _, ...entry } = entryOf(0, { target: { type: "settings" } });
  assert.ok(matcherOf({ q: "ada" })(entry));
  assert.ok(!matcherOf({ target: "settings" })(entry));
});
