import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Unavailable } from "../../src/core/errors.ts";
import { Turns } from "../../src/core/turns.ts";
import { LONG_TEXT } from "../../src/audit/event-fields.ts";
import { auditRoutes, REDACTION_TRIALS } from "../../src/audit/routes.ts";
import { LARGE_BATCHES } from "../../src/shared-limits.ts";

test("trials of redaction take turns, and beyond those that may wait they are refused", async () => {
  const row = auditRoutes.find(({ path }) => path === "/audit/redact");
  const { handle } = row as unknown as { handle: (...given: unknown[]) => Promise<unknown> };
  const running: (() => void)[] = [];
  const redactor = { *redactInParts() {} };
  const needs = {
    redaction: { trial: () => new Promise((resolve) => running.push(() => resolve(redactor))) },
    redactionTrials: new Turns(REDACTION_TRIALS),
  };
  const client = { party: ["public", "default", "a"], gone: new AbortController().signal };
  const ask = () => handle({ organization: "default", body: { text: "x" }, client }, needs);
  const asked: Promise<unknown>[] = [];
  for (let i = 0; i < REDACTION_TRIALS.atOnceOfOne; i++) {
    asked.push(ask());
    while (running.length === i) await turn();
  }
  for (let i = 0; i < REDACTION_TRIALS.waiting; i++) asked.push(ask());
  await assert.rejects(ask(), Unavailable);
  assert.equal(running.length, REDACTION_TRIALS.atOnceOfOne);
  const end = setInterval(() => running.splice(0).forEach((resolve) => resolve()), 0);
  await Promise.all(asked);
  clearInterval(end);
});

test("trials for one organization from any number of addresses leave turns to the others", async () => {
  for (const limits of [REDACTION_TRIALS, LARGE_BATCHES]) {
    const turns = new Turns(limits);
    const begun: string[] = [];
    const take = (surface: string, organization: string, address: string): void => {
      turns.take([surface, organization, address], () => begun.push(organization), assert.fail);
    };
    for (const address of ["a", "b", "c", "d", "e"]) take("public", "default", address);
    take("v1", "acme", "f");
    for (let i = 0; i < 20; i++) await turn(); // at most one begins in a turn of the event loop
    assert.deepEqual(begun.sort(), ["acme", "default", "default", "default"]);
  }
});

test("the texts that wait for a trial of redaction have at most 16 MiB", () => {
  assert.ok(REDACTION_TRIALS.waiting * 2 * LONG_TEXT <= 16 << 20);
});
