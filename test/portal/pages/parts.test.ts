import assert from "node:assert/strict";
import { test } from "node:test";
import { credentialHeaders, emptyState } from "../../../src/portal/pages/parts.ts";
import { start } from "../../support/start.ts";

const CLOSED = { now: 0, apiUrl: "https://signalbox.test/api/v1", needsCredential: true };

test("an empty state whose shell line has a token says where the token comes from", async (t) => {
  const shown = (who: "person" | "runtime"): string => {
    const url = `${CLOSED.apiUrl}/users`;
    const request = { method: "GET", url, headers: credentialHeaders(CLOSED, who) };
    return emptyState("No users yet", "From a shell:", request).toString();
  };
  const [, anchor = ""] =
    /href="\/portal\/api#(\w+)"><code>POST \/auth\/login/.exec(shown("person")) ?? [];
  const app = await start(t);
  const { text } = await app.get("/portal/api");
  assert.ok(text.includes(`<details id="${anchor}">`), anchor);
  assert.doesNotMatch(shown("runtime"), /auth\/login/);
});
