/**
 * A client that uses only the served OpenAPI document: it makes valid and invalid requests from
 * every operation's declaration. The test client checks each response against the document.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { MINUTE_MS } from "../../src/core/clock.ts";
import { requestsOf, type DocumentedOperation } from "../support/documented-requests.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

type Paths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;

/** It ends only when its reader disconnects; it has its own tests. */
const ENDLESS = "/audit/stream";

const app = await start({ after }, { ...ADMIN_SETTINGS, metrics: "open" });
const { body: document } = await app.get("/openapi.json");

for (const [path, item] of Object.entries(document.paths as Paths)) {
  if (path.endsWith(ENDLESS)) continue;
  for (const [method, operation] of Object.entries(item)) {
    const name = `${method.toUpperCase()} ${path}`;
    test(`${name} accepts documented requests, and refuses others`, async () => {
      app.advance(2 * MINUTE_MS); // the throttle forgets the failed sign-ins of the previous test
      const admin = operation.security.length > 0 ? await app.asUser(ADMIN) : {};
      for (const { target, body, isRight } of requestsOf(path, operation, document)) {
        const answer = await app.request(method.toUpperCase(), target, body, admin);
        const shown = `${target} ${JSON.stringify(body)?.slice(0, 400)}: ${answer.text.slice(0, 400)}`;
        const isRefused = [400, 405, 413, 415].includes(answer.status);
        if (isRight && body !== undefined) assert.ok(!isRefused, shown);
        if (!isRight) assert.ok(answer.status >= 400, shown);
        assert.notEqual(answer.status, 500, shown);
      }
    });
  }
}
