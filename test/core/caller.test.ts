import assert from "node:assert/strict";
import { test } from "node:test";
import { isAccepted, requireAccepted } from "../../src/core/caller.ts";
import { Forbidden, Unauthenticated, Unavailable } from "../../src/core/errors.ts";

const refusing = (error: Error) => () =>
  isAccepted(() => {
    throw error;
  }, "default");

test("credentials that have ended are not accepted, and those of another organization neither", async () => {
  const other = { organization: "acme", actor: undefined };
  assert.equal(await isAccepted(() => other, "acme"), true);
  assert.equal(await isAccepted(() => other, "default"), false);
  const ended = refusing(new Unauthenticated("It was revoked"));
  await assert.rejects(requireAccepted(ended, "Not stored"), {
    status: 401,
    message: "Not stored",
  });
});

test("a role that no longer includes the request is 403, not 401", async () => {
  const demoted = refusing(new Forbidden("This takes the role admin; yours is viewer"));
  await assert.rejects(requireAccepted(demoted, "Not stored"), { status: 403, message: /viewer/ });
});

test("credentials that cannot be looked up are neither accepted nor refused", async () => {
  const away = refusing(new Unavailable("The database cannot be reached", 1));
  await assert.rejects(requireAccepted(away, "Not stored"), { status: 503 });
});
